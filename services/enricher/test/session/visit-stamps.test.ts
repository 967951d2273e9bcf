import { UTM_TAGS } from '@weir/domain/acquisition/campaign-tags';
import { VISIT_ATTRIBUTES } from '@weir/domain/records/records-columns';
import { useOpened } from '@weir/testkit/use-opened';
import fc from 'fast-check';
import { accessLogHits } from '../pipeline/access-log-traffic.ts';
import { NOW, pageview, type RawInput } from '../pipeline/enrich-harness.ts';
import { openSessionsHarness } from './sessions-harness.ts';

const MINUTE_MS = 60_000;
const RUNS = 6;
const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const harness = useOpened(openSessionsHarness);

interface Sent {
  /** Minutes after the first possible hit. */
  readonly at: number;
  readonly what: 'pageview' | 'event' | '$engagement' | 'server' | '$server' | 'bot';
  readonly visitor: number;
  /** Empty: the enricher finds the session. */
  readonly session: '' | 'a' | 'b';
  readonly path: number;
  readonly from: '' | 'https://www.google.com/' | 'https://news.example.net/' | 'tag' | 'long' | 'nul';
}

const QUERIES: Readonly<Record<string, string>> = {
  tag: `?${UTM_TAGS.map((tag, nth) => `${tag}=${['mail%25', 'e%0Amail', '%22x', '%09c'][nth % 4]}`).join('&')}`,
  long: `?utm_campaign=${'x'.repeat(2000)}`,
  nul: '?utm_campaign=%00',
};

function toRecord(run: string, { at, what, visitor, session, path, from }: Sent): RawInput {
  const visitor_id = `${run}-${visitor}`;
  const session_id = session === '' ? '' : `${visitor_id}-${session}`;
  const receivedAt = NOW + at * MINUTE_MS + (at % 3) * 1_700;
  if (what === 'server' || what === '$server') {
    return { kind: 'event', receivedAt, body: { name: what, visitor_id, session_id } };
  }
  const url = `https://example.com/p%25${path}${QUERIES[from] ?? ''}`;
  const referrer = from.startsWith('https:') ? from : '';
  const event = what === 'pageview' || what === 'bot' ? {} : { type: 'event', event_name: what };
  return {
    receivedAt,
    body: pageview({ visitor_id, session_id, url, referrer, ...event }),
    ...(what === 'bot' ? { userAgent: BOT } : {}),
  };
}

/**
 * A stamp is the columns of a row that describe its visit (`visit_stamp` and others). Returns the number of visits, the number of visits whose stamps
 * can be used, and the visits whose usable stamps differ from the view `sessions`. The stamps of a visit cannot be used if `visit_stamp` of one of
 * its rows is 0 or 2, or if the visit is in `visits_computed`.
 */
async function compare(visitors: string, params: Readonly<Record<string, string>> = {}) {
  const stamps = VISIT_ATTRIBUTES.map(([stamp]) => stamp).join(', ');
  const wanted = VISIT_ATTRIBUTES.map(([, ofSession]) => ofSession).join(', ');
  const sums = `SELECT session_id, countIf(visit_stamp != 1) AS others, sum(visit_new) AS n, sum(visit_bounces) AS b, sum(visit_seconds) AS s,
      groupUniqArrayIf(tuple(toUnixTimestamp64Milli(visit_started), ${stamps}), NOT startsWith(event_name, '$')) AS a
    FROM event_rows WHERE ${visitors} AND session_id != '' AND bot = '' GROUP BY session_id`;
  const rows = await harness.query(
    `SELECT session_id, others = 0 AND session_id NOT IN (SELECT session_id FROM visits_computed) AS stamped, sessions.visitor_id != '' AS visited,
       n, b, s, a, is_bounce, duration_seconds, [tuple(toUnixTimestamp64Milli(started_at), ${wanted})] AS one
     FROM (${sums}) AS sums LEFT JOIN sessions USING (session_id)`,
    params,
  );
  const stamped = rows.filter((row) => row.stamped === 1);
  const wrong = stamped.filter((row) =>
    row.visited === 1
      ? row.n !== 1 ||
        row.b !== row.is_bounce ||
        row.s !== row.duration_seconds ||
        JSON.stringify(row.a) !== JSON.stringify(row.one)
      : row.n !== 0 || row.b !== 0 || row.s !== 0,
  );
  return { visits: rows.length, stamped: stamped.length, wrong };
}

const sent = (minutes: fc.Arbitrary<number>) =>
  fc.record<Sent>({
    at: minutes,
    what: fc.constantFrom(
      ...(['pageview', 'pageview', 'pageview', 'event', '$engagement', 'server', '$server', 'bot'] as const),
    ),
    visitor: fc.integer({ min: 0, max: 59 }),
    session: fc.constantFrom('', '', '', 'a', 'b'),
    path: fc.integer({ min: 0, max: 1 }),
    from: fc.constantFrom(
      ...(['', '', 'https://www.google.com/', 'https://news.example.net/', 'tag', 'long', 'nul'] as const),
    ),
  });
const history = fc.oneof(
  fc.array(sent(fc.integer({ min: 0, max: 200 })), { minLength: 300, maxLength: 500, size: 'max' }),
  // Sessions can be longer than a day.
  fc.array(sent(fc.integer({ min: 0, max: 4_000 })), { minLength: 300, maxLength: 500, size: 'max' }),
);

let runs = 0;

test('a visit whose stamps can be used has the sums and attributes of `sessions`, in any order of hits', async () => {
  let stamped = 0;
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.constantFrom('any order', 'by time', 'a little late'),
      fc.integer({ min: 120, max: 500 }),
      async (hits, order, batchRecords) => {
        runs += 1;
        const run = `r${runs}`;
        const late = (hit: Sent, nth: number) => hit.at + (order === 'a little late' && nth % 5 === 0 ? 12 : 0);
        const ordered =
          order === 'any order'
            ? hits
            : hits
                .map((hit, nth) => [hit, late(hit, nth)] as const)
                .toSorted(([, a], [, b]) => a - b)
                .map(([hit]) => hit);
        await harness.take(
          ordered.map((hit) => toRecord(run, hit)),
          batchRecords,
        );
        const found = await compare('startsWith(visitor_id, {run:String})', { run: `${run}-` });
        expect(found.wrong).toEqual([]);
        stamped += found.stamped;
      },
    ),
    { numRuns: RUNS },
  );
  expect(stamped).toBeGreaterThan(50);
});

test('the lines of an access log: the stamps are those of `sessions`, and few visits must be computed', async () => {
  const records = accessLogHits('semicomplete.com').map(({ ip, userAgent, url, referrer, timestamp }): RawInput => {
    return { kind: 'import', ip, userAgent, body: { url, referrer, timestamp } };
  });
  await harness.take(records, 1000);
  const found = await compare("source = 'import'");
  expect(found.wrong).toEqual([]);
  // The times of a log are whole seconds. Visits without usable stamps are those whose first hits have the same time.
  expect(found.stamped).toBeGreaterThan(0.8 * found.visits);
});
