import { openKafkaEventLog } from '@weir/adapters/kafka/kafka-event-log';
import { HEADER_RAW_OFFSET } from '@weir/domain/records/records-columns';
import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { AppendRecord, EventLog } from '@weir/ports/event-log';
import { createLogger } from '@weir/runtime/logger';
import { describeLive } from '@weir/testkit/live-ports';
import topics from '../../../../infra/kafka/topics.json' with { type: 'json' };
import { appendOutcomes } from '../../src/pipeline/append-outcomes.ts';
import { type EnrichHarness, NOW, openEnrichHarness } from './enrich-harness.ts';
import { openHarness } from './loop-harness.ts';

const BATCH_BYTES_MAX = 4 * 1024 * 1024;

/** The outcomes of one full batch of records. The properties of each record become four times as long in its outcome. */
async function growing(harness: EnrichHarness): Promise<readonly AppendRecord[]> {
  const properties = `{"n":[${Array(1_600).fill('1e18').join(',')}]}`;
  const body = { event_name: 'x', user_id: 'u-1', properties: JSON.parse(properties) };
  const record = (i: number): Buffer => {
    const head = { eventId: `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`, kind: 'event', siteId: 'demo' };
    const sent = JSON.stringify(body).replace(JSON.stringify(body.properties), properties);
    return Buffer.from(
      JSON.stringify({ ...head, receivedAt: NOW, ip: '', userAgent: '', acceptLanguage: '', body: 0 }).replace(
        '"body":0',
        `"body":${sent}`,
      ),
    );
  };
  const count = Math.floor(BATCH_BYTES_MAX / record(0).byteLength);
  const lines = await harness.lines(Array.from({ length: count }, (_, i) => record(i)));
  return lines.map((line, i) => ({
    partition: 0,
    value: Buffer.from(line),
    headers: { [HEADER_RAW_OFFSET]: String(i) },
  }));
}

let outcomes: readonly AppendRecord[];
beforeAll(async () => {
  const harness = await openEnrichHarness();
  outcomes = await growing(harness);
  await harness.close();
});

/** Appends all outcomes. Fails at the first refusal, because the same append would be refused again forever. */
async function appendAll(eventLog: EventLog): Promise<readonly number[]> {
  const stored: number[] = [];
  const stop = new AbortController();
  const refusals: string[] = [];
  await appendOutcomes({
    eventLog,
    partition: 0,
    outcomes,
    signal: stop.signal,
    onStored: (count) => stored.push(count),
    onFailure(reason) {
      refusals.push(reason);
      stop.abort();
    },
  }).catch(() => undefined);
  expect(refusals).toEqual([]);
  return stored;
}

test('the outcomes of one batch can be larger than the largest append', () => {
  const bytes = outcomes.reduce((sum, { value }) => sum + value.byteLength, 0);
  expect(bytes).toBeGreaterThan(15 * 1024 * 1024);
});

test('the embedded log stores the outcomes in slices, in order', async () => {
  const { eventLog, close } = await openHarness();
  const stored = await appendAll(eventLog);
  expect(stored.length).toBeGreaterThan(1);
  expect(stored.at(-1)).toBe(outcomes.length);
  expect((await eventLog.positions(TOPIC_ENRICHED, 'test'))[0]?.end).toBe(outcomes.length);
  await close();
});

describeLive('kafka', (address) => {
  test('Kafka stores the outcomes in slices, and would refuse them as one append', async () => {
    const eventLog = await openKafkaEventLog({
      brokers: address().split(','),
      clientId: 'weir-test',
      topics: topics as Parameters<typeof openKafkaEventLog>[0]['topics'],
      partitions: 1,
      rawRetentionMs: 72 * 3_600_000,
      enrichedRetentionMs: 30 * 24 * 3_600_000,
      topicPrefix: 'slices.',
      appendDeadlineMs: 20_000,
      logger: createLogger('silent'),
    });
    try {
      const whole = await eventLog.append(TOPIC_ENRICHED, outcomes);
      expect(new Set(whole.map(({ status }) => status))).toEqual(new Set(['refused']));
      expect((await appendAll(eventLog)).at(-1)).toBe(outcomes.length);
      expect((await eventLog.positions(TOPIC_ENRICHED, 'test'))[0]?.end).toBe(outcomes.length);
    } finally {
      await eventLog.close();
    }
  });
});
