import { type Redriven, redrivenRecord } from '@weir/domain/records/redriven';
import { useOpened } from '@weir/testkit/use-opened';
import { CHROME, NOW, openEnrichHarness, pageview, parseLine, rawBytes } from './enrich-harness.ts';

const DAY_MS = 24 * 3600_000;

const harness = useOpened(openEnrichHarness);

const redriven = (offset: number, attempt = 1): Redriven => ({ log: 'log', partition: 0, offset, attempt, at: NOW });

/** Enriches these records, and returns the columns of their outcomes that the tests compare. */
async function outcomes(...values: readonly Uint8Array[]) {
  const rows = (await harness.lines(values)).map(parseLine);
  return rows.map(({ outcome, detail, event_name, raw_offset }) => ({ outcome, detail, event_name, raw_offset }));
}

test('a redriven record counts once per attempt, and is no duplicate of the first record of its dead letter', async () => {
  const record = rawBytes({ kind: 'event', idempotencyKey: 'k', body: { name: 'paid', visitor_id: 'v' } });
  // The state store keeps this record as the first one with its key. The same happens for a record whose row ClickHouse refuses later.
  const [first] = await outcomes(record);
  const offset = Number(first?.raw_offset);
  const again = redrivenRecord(record, '', redriven(offset)) as Uint8Array;
  const [row, repeat, client, next] = await outcomes(
    again,
    again,
    record,
    redrivenRecord(record, '', redriven(offset, 2)) as Uint8Array,
  );
  expect(row).toMatchObject({
    outcome: 'row',
    event_name: 'paid',
    detail: JSON.stringify({ redriven: redriven(offset) }),
  });
  expect([repeat?.outcome, client?.outcome, client?.detail]).toEqual(['duplicate', 'duplicate', '']);
  expect([next?.outcome, JSON.parse(String(next?.detail)).redriven.attempt]).toEqual(['row', 2]);
});

test('one that was not the first with its idempotency key stays a duplicate', async () => {
  const body = { name: 'paid', visitor_id: 'v' };
  const winner = rawBytes({ kind: 'event', idempotencyKey: 'other', body });
  const loser = redrivenRecord(rawBytes({ kind: 'event', idempotencyKey: 'other', body }), '', redriven(900));
  expect((await outcomes(winner, loser as Uint8Array)).map(({ outcome }) => outcome)).toEqual(['row', 'duplicate']);
});

test('one that cannot be read is a dead letter that names the first record', async () => {
  const broken = redrivenRecord(rawBytes({ kind: 'other' as never, body: {} }), '', redriven(901)) as Uint8Array;
  const [dead] = await outcomes(broken);
  expect(dead?.outcome).toBe('dead');
  expect(JSON.parse(String(dead?.detail))).toMatchObject({ stage: 'enricher', redriven: redriven(901) });
});

test('one of an earlier day needs no salt of that day: it has its visitor ID', async () => {
  const early = { receivedAt: NOW - 5 * DAY_MS, userAgent: CHROME };
  const raw = rawBytes({ ...early, body: { ...pageview(), visitor_id: '' } });
  const visitorId = `c_${'a'.repeat(32)}`;
  const [line] = (await harness.lines([redrivenRecord(raw, '', { ...redriven(902), visitorId }) as Uint8Array])).map(
    parseLine,
  );
  expect(line).toMatchObject({
    outcome: 'row',
    visitor_id: visitorId,
    cookieless: true,
    received_at: early.receivedAt,
  });
  expect(harness.registry.existingSalt('2026-06-10')).toBeUndefined();
});
