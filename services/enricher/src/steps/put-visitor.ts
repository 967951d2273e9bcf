import { cookielessVisitorId, utcDay } from '@weir/domain/cookieless';
import type { FinishContext } from '../enrichment.ts';
import type { Hit } from '../hit.ts';

const NONE: readonly string[] = [];

/** The UTC days whose salts a hit needs. */
export function saltDaysOf(hit: Hit): readonly string[] {
  return hit.cookieless ? [utcDay(hit.receivedAt)] : NONE;
}

/** The visitor ID of a cookieless hit. Idempotent: `stateKeys` needs it before the steps run. */
export function putVisitor(hit: Hit, { salts }: Pick<FinishContext, 'salts'>): undefined {
  if (!hit.cookieless || hit.visitorId !== '') return;
  const day = utcDay(hit.receivedAt);
  const salt = salts.get(day);
  if (salt === undefined) throw new Error(`no salt for ${day}`);
  hit.visitorId = cookielessVisitorId(salt, hit);
}
