import { userLinkKey } from '@weir/domain/records/state-keys';
import type { IsErased } from '../identity/is-erased.ts';
import type { Step } from '../pipeline/step.ts';

/** How long a link is kept in the state. This is longer than the lifetime of a visitor cookie. */
export const LINK_TTL_MS = 400 * 24 * 3600_000;

/**
 * Links users and visitors (docs/api.md, Linking). An identify links its user to its visitor. An event with only a user_id
 * gets the visitor of the last identify of its user. An unlink removes a link.
 * All records of one user are in one partition, so "last" means last in the order of the log.
 * If an event gets the ID of an erased visitor, its outcome is `erased`: the step `drop-erased`, which comes before this step, sees no visitor ID.
 */
export const createLinkVisitor = (isErased: IsErased): Step => ({
  name: 'link-visitor',
  prepare(event) {
    const { userId, siteId } = event;
    const isWanted =
      userId !== '' && (event.identity !== undefined || event.type === 'unlink' || event.visitorId === '');
    if (!isWanted) return undefined;
    event.linkKey = userLinkKey(siteId, userId);
    return event.linkKey;
  },
  apply(event, { state }) {
    const { linkKey, visitorId } = event;
    if (linkKey === '') return undefined;
    if (event.type === 'unlink') {
      if (state.get(linkKey) === visitorId) state.set(linkKey, undefined, LINK_TTL_MS);
    } else if (event.identity === undefined) {
      event.visitorId = state.get(linkKey) ?? '';
      event.linked = true;
      if (event.visitorId !== '' && isErased(event)) return ERASED;
    } else if (visitorId !== '') {
      state.set(linkKey, visitorId, LINK_TTL_MS);
    }
    return undefined;
  },
});

const ERASED = { outcome: 'erased' } as const;
