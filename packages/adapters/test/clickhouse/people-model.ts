import fc from 'fast-check';
import { identify, type RowFields, T0 } from './clickhouse-harness.ts';

/** An event, identify or unlink of one site. This file computes the expected results without SQL, by the rules of docs/api.md. */
export interface Act {
  readonly kind: 'identify' | 'unlink' | 'event';
  readonly visitor: string;
  readonly user: string;
  /** The user that an event names. */
  readonly names: string | undefined;
  /** An event's timestamp minus its time of receipt, in ms. */
  readonly ahead: number;
  readonly at: number;
  readonly id: string;
  readonly email: string | undefined;
  readonly plan: string | number | boolean | null | undefined;
  /** Which kind of caller sent an identify: a server, a browser with a signature, or a browser without one. */
  readonly by: 'server' | 'signed' | 'browser';
}

const act = fc.record({
  kind: fc.constantFrom('identify', 'identify', 'identify', 'event', 'event', 'unlink'),
  visitor: fc.constantFrom('', 'v1', 'v1', 'v2', 'v3'),
  user: fc.constantFrom('a', 'b', 'c'),
  names: fc.constantFrom(undefined, undefined, 'a', 'b', 'c', 'unknown'),
  ahead: fc.constantFrom(0, 0, 0, 3_600_000, -T0),
  // There are only 13 different times, so that some acts have the same time.
  at: fc.integer({ min: 0, max: 12 }).map((second) => T0 + second * 1000),
  id: fc.uuid(),
  email: fc.constantFrom(undefined, 'a@x.y', 'b@x.y'),
  plan: fc.constantFrom(undefined, 'pro', 'fr"ee\\', 1.5, true, null),
  by: fc.constantFrom('server', 'signed', 'browser', 'browser'),
});

/** Generates acts in a random order. Some acts of the kinds identify and unlink arrive more than once. */
export const history: fc.Arbitrary<readonly Act[]> = fc
  .uniqueArray(act as fc.Arbitrary<Act>, { minLength: 4, maxLength: 14, selector: ({ id }) => id })
  .chain((acts) => {
    const again = acts.filter(({ kind }) => kind !== 'event');
    return fc.shuffledSubarray(again).chain((repeats) => {
      const all = [...acts, ...repeats];
      return fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length });
    });
  });

export function rowOf(site: string, { kind, visitor, user, names, ahead, at, id, email, plan, by }: Act): RowFields {
  const row = { site_id: site, visitor_id: visitor, event_id: id, timestamp: at, received_at: at };
  if (kind === 'event') return { ...row, user_id: names ?? '', timestamp: at + ahead };
  const who = { profile_id: `p-${user}`, user_id: user };
  if (kind === 'unlink') return identify(who, { ...row, reason: 'unlink' });
  const said = {
    ...who,
    ...(email === undefined ? {} : { email }),
    ...(plan === undefined ? {} : { traits: { plan } }),
    ...(by === 'signed' ? { signed: true } : {}),
  };
  return identify(said, { ...row, source: by === 'server' ? 'server' : 'collect' });
}

const before = (a: Act, b: Act): number => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Returns the identifies of a visitor, oldest first. Leaves out each identify that is followed by an unlink of the same visitor and user. */
function standing(acts: readonly Act[], visitor: string): readonly Act[] {
  const own = acts.filter((one) => one.visitor === visitor && visitor !== '').toSorted(before);
  return own.filter(
    (one) =>
      one.kind === 'identify' &&
      !own.some((other) => other.kind === 'unlink' && other.user === one.user && before(other, one) > 0),
  );
}

const profileOf = (one: Act | undefined): string => (one === undefined ? '' : `p-${one.user}`);

/** The profile to which a visitor belongs. docs/api.md, Effect: "A visitor belongs to the user that it was identified as last." */
const belongsTo = (acts: readonly Act[], visitor: string): string => profileOf(standing(acts, visitor).at(-1));

/** The profile to which a visitor belonged at a time: by the latest identify up to this time, or, if there is none, by the first one after it. */
export function belongedTo(acts: readonly Act[], visitor: string, at: number): string {
  const all = standing(acts, visitor);
  const [first] = all;
  return first === undefined ? '' : profileOf(all.findLast((one) => one.at <= Math.max(at, first.at)));
}

/** Orders acts of the kind identify by precedence, lowest first: those of browsers without a signature, then all others. Within both, by time. */
const byRank = (a: Act, b: Act): number => Number(a.by !== 'browser') - Number(b.by !== 'browser') || before(a, b);

/** docs/api.md, Linking: "The profile of an event with a `user_id` is the profile of that user, if the user has one." Undefined if there is none. */
const named = (acts: readonly Act[], { names }: Act): string | undefined =>
  acts.some(({ kind, user }) => kind === 'identify' && user === names) ? `p-${names}` : undefined;
export const ownerOf = (acts: readonly Act[], event: Act): string =>
  named(acts, event) ?? belongsTo(acts, event.visitor);
export const ownerThen = (acts: readonly Act[], event: Act): string =>
  named(acts, event) ?? belongedTo(acts, event.visitor, event.at + event.ahead);

export function expectedProfiles(acts: readonly Act[]): readonly object[] {
  const identifies = acts.filter(({ kind }) => kind === 'identify').toSorted(before);
  const visitors = [...new Set(acts.map(({ visitor }) => visitor))].filter((visitor) => visitor !== '').toSorted();
  return [...new Set(identifies.map(({ user }) => user))].toSorted().map((user) => {
    const own = identifies.filter((one) => one.user === user);
    const ranked = own.toSorted(byRank);
    const visitorIds = visitors.filter((visitor) => belongsTo(acts, visitor) === `p-${user}`);
    const seen = acts.filter((one) => one.kind === 'event' && ownerOf(acts, one) === `p-${user}`);
    const times = [...own.map(({ at }) => at), ...seen.map(({ at, ahead }) => at + Math.min(ahead, 0))];
    const plan = ranked.findLast((one) => one.plan !== undefined)?.plan ?? null;
    return {
      profile_id: `p-${user}`,
      user_id: user,
      email: ranked.findLast(({ email }) => email !== undefined)?.email ?? '',
      traits: plan === null ? {} : { plan },
      visitor_ids: visitorIds,
      first: Math.min(...times),
      last: Math.max(...times),
    };
  });
}
