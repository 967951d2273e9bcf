import { profileId } from '@weir/domain/profile-id';
import type { FinishContext } from '../enrichment.ts';
import type { Hit } from '../hit.ts';

/** Longer than any cookie of a visitor lives; older links come from the link table. */
const LINK_TTL_MS = 400 * 24 * 3600_000;

/** Where the visitor stands that a user was last identified on. The profile ID, since a user ID may be too long for a key. */
export function linkKeyOf(hit: Hit): string | undefined {
  const wanted = hit.userId !== '' && (hit.identity !== undefined || hit.type === 'unlink' || hit.visitorId === '');
  return wanted ? `link:${hit.siteId}\0${profileId(hit.siteId, hit.userId)}` : undefined;
}

/**
 * decisions.md, Linking: an identify makes its visitor the user's; an event with only a user_id belongs to that visitor. An
 * unlink takes it back.
 * The records of one user lie in one partition, so "last before the event" is the log's order.
 */
export function linkVisitor(hit: Hit, { state }: FinishContext): undefined {
  const key = linkKeyOf(hit);
  if (key === undefined) return;
  if (hit.type === 'unlink') {
    if (state.get(key) === hit.visitorId) state.set(key, undefined, LINK_TTL_MS);
  } else if (hit.identity === undefined) {
    hit.visitorId = state.get(key) ?? '';
    hit.linked = true;
  } else if (hit.visitorId !== '') {
    state.set(key, hit.visitorId, LINK_TTL_MS);
  }
}
