import { encodeRawRecord, type RecordKind } from '@weir/domain/records/raw-record';
import { GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { AppendRecord } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { tableDigests } from '../../../packages/adapters/test/clickhouse/table-digests.ts';
import { openControlHarness, type ReplayedFrom } from './control-harness.ts';

/**
 * How long the tests wait for the pipeline or a replay to reach an expected state. The time is long, because other test suites can run at the
 * same time.
 */
const FOLLOWS_WITHIN_MS = 180_000;
const APPENDED_AT_ONCE = 200;

export type ReplayHarness = Awaited<ReturnType<typeof openReplayHarness>>;

/** Control with its pipeline (control-harness.ts), two sites, and the records of `firstVisits` visits. */
export async function openReplayHarness(firstVisits: number, from: ReplayedFrom = {}) {
  const weir = await openControlHarness(undefined, undefined, from);
  const { call } = weir;
  let events = 0;
  let nextVisit = 0;

  function raw(key: string, kind: RecordKind, siteId: string, body: object, more?: object): AppendRecord {
    const eventId = `00000000-0000-7000-8000-${String(++events).padStart(12, '0')}`;
    const head = {
      ...{ eventId, kind, siteId, receivedAt: weir.clock(), sealedIp: '' },
      ...{ userAgent: 'Firefox', acceptLanguage: 'en', ...more },
    };
    return { key, value: encodeRawRecord(head, JSON.stringify(body)) };
  }
  const appendAll = (records: readonly AppendRecord[]) => weir.eventLog.append(TOPIC_RAW, records);
  const append = (...record: Parameters<typeof raw>) => appendAll([raw(...record)]);

  /** Returns five records: two pageviews, an identify, a payment that may be a duplicate, and a record that cannot be read. */
  function recordsOfVisit(site: string): readonly AppendRecord[] {
    const nth = nextVisit++;
    const key = `visitor-${nth % 9}`;
    const person = {
      ...{ visitor_id: key, user_id: `user-${nth % 5}` },
      ...{ nth, payment_customer_id: `cus-${nth % 4}` },
    };
    const paid = {
      ...{ event_name: 'paid', user_id: person.user_id, idempotency_key: `key-${nth % 20}` },
      ...{ value: nth, properties: { currency: 'EUR' } },
    };
    const page = { site_id: site, type: 'pageview', url: `https://${site}.example/${nth}?utm_source=s${nth % 3}` };
    return [
      raw(key, 'collect', site, { ...page, visitor_id: key }),
      raw(key, 'collect', site, { ...page, url: `${page.url}&again`, visitor_id: key }),
      raw(person.user_id, 'identify', site, person),
      raw(person.user_id, 'event', site, paid),
      { key, value: Buffer.from('not a record') },
    ];
  }

  /** Resolves when every record is stored in every table. The writer commits its offset only after that. */
  const settled = () =>
    eventually(
      'nothing to be in flight',
      async () => {
        const { data } = (await call('GET', '/audit')).body;
        const positions = await weir.eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER);
        return (
          data.balanced && data.totals.in_flight === 0 && positions.every(({ end, committed = 0 }) => committed === end)
        );
      },
      FOLLOWS_WITHIN_MS,
    );
  const current = () => call('GET', '/replays/current');
  const count = async (query: string) => Number((await weir.analytics.select<{ n: number }>(query))[0]?.n);

  const harness = {
    ...weir,
    append,
    visit: (site: string) => appendAll(recordsOfVisit(site)),
    settled,
    current,
    count,
    async visits(wanted: number): Promise<void> {
      const records = Array.from({ length: wanted }, (_, i) => recordsOfVisit(i % 3 === 0 ? 'blog' : 'shop')).flat();
      // The records are appended in several calls, so that the tables have several inserts.
      for (let from = 0; from < records.length; from += APPENDED_AT_ONCE) {
        await appendAll(records.slice(from, from + APPENDED_AT_ONCE));
      }
      await settled();
    },
    gone: () => eventually('no replay', async () => (await current()).status === 404, FOLLOWS_WITHIN_MS),
    follows: () =>
      eventually(
        'the replay to follow',
        async () => {
          const { data } = (await current()).body;
          if (data.problem !== null && data.phase !== 'follow') throw new Error(data.problem);
          return data.phase === 'follow' && data.records_replayed === data.records_to_replay;
        },
        FOLLOWS_WITHIN_MS,
      ),
    /** Waits for a swap or an undo. Throws if it is refused. */
    reaches: (phase: string) =>
      eventually(`the phase ${phase}`, async () => {
        const { data } = (await current()).body;
        if (data.refusal !== null) throw new Error(data.refusal);
        return data.phase === phase;
      }),
    waits: (problem: string) =>
      eventually('the replay to wait', async () => (await current()).body.data.problem === problem, FOLLOWS_WITHIN_MS),
    /** The diff of the replay. Status 202 means that it is not complete yet, so the call is repeated. */
    async diff(query = '') {
      for (;;) {
        const { status, body } = await call('GET', `/replays/current/diff${query}`);
        if (status !== 202) return body.data;
      }
    },
    digests: (database: string) => tableDigests((query) => weir.analytics.select(query), database),
    /** Removes the replay (docs/glossary.md), if there is one, and its shadow tables. Resolves when they are removed. */
    async drop(): Promise<void> {
      await call('DELETE', '/replays/current');
      await harness.gone();
    },
  };
  for (const site of ['shop', 'blog']) {
    await call('POST', '/sites', { name: site, domain: `${site}.example`, site_id: site });
  }
  await harness.visits(firstVisits);
  return harness;
}
