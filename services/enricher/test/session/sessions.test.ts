import { hash } from 'node:crypto';
import { useOpened } from '@weir/testkit/use-opened';
import fc from 'fast-check';
import { NOW, pageview, type RawInput, SITE } from '../pipeline/enrich-harness.ts';
import { openSessionsHarness } from './sessions-harness.ts';

const MINUTE_MS = 60_000;
const IDLE_MS = 30 * MINUTE_MS;
const harness = useOpened(openSessionsHarness);

interface VisitorHit {
  readonly minute: number;
  readonly what: 'pageview' | 'event' | '$engagement';
  /** The number of the visitor in this run. */
  readonly visitor: number;
  /** Stands for the session ID that the snippet sent. If it is empty, the enricher computes the ID. */
  readonly session: '' | 'a' | 'b';
}

interface Session {
  readonly session_id: string;
  readonly visitor_id: string;
  readonly started_at: number;
  readonly ended_at: number;
  readonly pageviews: number;
  readonly events: number;
  readonly entry_path: string;
  readonly exit_path: string;
  readonly is_bounce: number;
}

const atOf = ({ minute }: VisitorHit): number => NOW + minute * MINUTE_MS;
const visitorOf = (run: string, { visitor, session }: VisitorHit): string =>
  `${run}-${visitor}${session === '' ? '' : '-named'}`;
const sessionOf = (run: string, hit: VisitorHit): string =>
  hit.session === '' ? '' : `${visitorOf(run, hit)}-${hit.session}`;

function toRecord(run: string, hit: VisitorHit): RawInput {
  return {
    receivedAt: atOf(hit),
    body: pageview({
      visitor_id: visitorOf(run, hit),
      session_id: sessionOf(run, hit),
      url: `https://example.com/${hit.minute}`,
      ...(hit.what === 'pageview' ? {} : { type: 'event', event_name: hit.what }),
    }),
  };
}

/**
 * The sessions by definition. All hits with the same session ID are one session. Hits without a session ID are one session until the
 * visitor has been idle for more than 30 minutes.
 */
function expected(run: string, hits: readonly VisitorHit[]): Session[] {
  const groups = new Map<string, VisitorHit[]>();
  for (const hit of hits.toSorted((a, b) => a.minute - b.minute)) {
    const key = `${visitorOf(run, hit)} ${sessionOf(run, hit)}`;
    groups.set(key, [...(groups.get(key) ?? []), hit]);
  }
  return [...groups.values()]
    .flatMap((group) => (group[0]?.session === '' ? cutWhereIdle(group) : [group]))
    .map((group) => sessionFrom(run, group))
    .filter((session) => session !== undefined)
    .toSorted((a, b) => (a.session_id < b.session_id ? -1 : 1));
}

function cutWhereIdle(hits: readonly VisitorHit[]): VisitorHit[][] {
  const cut: VisitorHit[][] = [];
  for (const hit of hits) {
    const last = cut.at(-1)?.at(-1);
    if (last !== undefined && atOf(hit) - atOf(last) <= IDLE_MS) cut.at(-1)?.push(hit);
    else cut.push([hit]);
  }
  return cut;
}

function sessionFrom(run: string, hits: readonly VisitorHit[]): Session | undefined {
  const first = hits[0] as VisitorHit;
  const counted = hits.filter(({ what }) => what !== '$engagement');
  if (counted.length === 0) return undefined;
  const pages = counted.filter(({ what }) => what === 'pageview');
  const [pageviews, events] = [pages.length, counted.length - pages.length];
  const visitor = visitorOf(run, first);
  const digest = hash('sha256', `${SITE}\0${visitor}\0${Math.floor(atOf(first) / IDLE_MS)}`, 'hex');
  return {
    session_id: sessionOf(run, first) || `s_${digest.slice(0, 32)}`,
    visitor_id: visitor,
    started_at: atOf(first),
    ended_at: atOf(hits.at(-1) as VisitorHit),
    pageviews,
    events,
    entry_path: `/${(pages[0] ?? counted[0])?.minute}`,
    exit_path: `/${(pages.at(-1) ?? counted.at(-1))?.minute}`,
    is_bounce: pageviews === 1 && events === 0 ? 1 : 0,
  };
}

const hits = fc.array(
  fc.record<VisitorHit>({
    minute: fc.integer({ min: 0, max: 300 }),
    what: fc.constantFrom('pageview', 'pageview', 'event', '$engagement'),
    visitor: fc.integer({ min: 0, max: 39 }),
    session: fc.constantFrom('', '', '', 'a', 'b'),
  }),
  { minLength: 250, maxLength: 450, size: 'max' },
);

let runs = 0;

describe('any order and any repetition of hits gives the same sessions', () => {
  test('`sessions` matches the definition, and `events` has the same session IDs', async () => {
    await fc.assert(
      fc.asyncProperty(hits, fc.integer({ min: 120, max: 450 }), async (sent, batchRecords) => {
        runs += 1;
        const run = `r${runs}`;
        await harness.take(
          sent.map((hit) => toRecord(run, hit)),
          batchRecords,
        );
        const wanted = expected(run, sent);
        const rows = await harness.query(
          `SELECT session_id, visitor_id, toUnixTimestamp64Milli(started_at) AS started_at, toUnixTimestamp64Milli(ended_at) AS ended_at,
             pageviews, events, entry_path, exit_path, is_bounce
           FROM sessions WHERE startsWith(visitor_id, {run:String}) ORDER BY session_id`,
          { run: `${run}-` },
        );
        expect(rows).toEqual(wanted);
        const counted = await harness.query(
          `SELECT session_id, countIf(type = 'pageview') AS pageviews, countIf(type = 'event' AND event_name != '$engagement') AS events
           FROM events WHERE startsWith(visitor_id, {run:String}) GROUP BY session_id HAVING pageviews + events > 0 ORDER BY session_id`,
          { run: `${run}-` },
        );
        expect(counted).toEqual(wanted.map(({ session_id, pageviews, events }) => ({ session_id, pageviews, events })));
      }),
      { numRuns: 3 },
    );
  });
});
