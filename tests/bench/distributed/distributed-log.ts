import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openKafkaEventLog } from '@weir/adapters/kafka/kafka-event-log';
import type { TopicsSpec } from '@weir/adapters/kafka/kafka-topics';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import { partitionOf } from '@weir/domain/records/partition-of';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { makeDemoSite } from '@weir/host/startup/demo-site';
import type { AppendRecord, EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { createLogger } from '@weir/runtime/logger';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { readTraffic, SITE } from '../programs/bench-traffic.ts';

/** The number of partitions in infra/kafka and in the default settings. */
export const PARTITIONS = 12;
const POLL_MS = 100;
const APPEND_RECORDS_MAX = 2_000;
const APPENDS_AT_ONCE = 4;
const TRIES_MAX = 20;

export interface BenchLog {
  /** The API key of the demo site, which the gateway's requests use. */
  readonly key: string;
  /** Appends this many raw records of the benchmark's traffic. */
  fill(records: number): Promise<void>;
  /** Resolves when the group has committed the end of each partition, and at least `records` records in total. */
  caughtUp(topic: string, group: string, records: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens a new log on the Kafka cluster. The names of its topics and groups begin with `prefix`. */
export async function openBenchLog(brokers: string, prefix: string): Promise<BenchLog> {
  const eventLog = await openKafkaEventLog({
    brokers: brokers.split(','),
    clientId: 'weir-bench',
    topics: JSON.parse(readFileSync(join(PROJECT_ROOT, 'infra/kafka/topics.json'), 'utf8')) as TopicsSpec,
    topicPrefix: prefix,
    partitions: PARTITIONS,
    rawRetentionMs: 72 * 3_600_000,
    enrichedRetentionMs: 30 * 24 * 3_600_000,
    logger: createLogger('error'),
  });
  const registry = await openLogRegistry({
    eventLog,
    clock: Date.now,
    randomSalt: () => randomBytes(32).toString('hex'),
    onDamage(error) {
      throw error;
    },
  });
  const key = await makeDemoSite(registry, Date.now());
  if (key === undefined) throw new Error('the log must be new, but it already has a site');
  await registry.putSite(SITE);
  const again = await traffic(eventLog.partitionCount, registry);
  return {
    key,
    fill: (records) => fill(eventLog, records, again),
    async caughtUp(topic, group, records) {
      for (;;) {
        const positions = await eventLog.positions(topic, group);
        const done = positions.every(({ end, committed }) => (committed ?? 0) === end);
        if (done && positions.reduce((sum, { end }) => sum + end, 0) >= records) return;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    async close() {
      await registry.close();
      await eventLog.close();
    },
  };
}

/** Appends the records that `again` returns, repeatedly and with several concurrent appends, until `records` are appended. */
async function fill(eventLog: EventLog, records: number, again: () => AppendRecord[]): Promise<void> {
  let left = records;
  let batch: AppendRecord[] = [];
  const take = (): readonly AppendRecord[] => {
    if (batch.length === 0) batch = again();
    const piece = batch.splice(0, Math.min(left, APPEND_RECORDS_MAX));
    left -= piece.length;
    return piece;
  };
  const appender = async (): Promise<void> => {
    while (left > 0) await appendAll(eventLog, take());
  };
  await Promise.all(Array.from({ length: APPENDS_AT_ONCE }, appender));
}

/**
 * Returns a function that makes raw records, as an import would append them. Each call returns the same records with new event IDs. These IDs are
 * counted up: computing them as an import does would take longer than all other work.
 */
async function traffic(partitionCount: number, registry: Registry): Promise<() => AppendRecord[]> {
  const made = await readTraffic().rawRecords('bench', registry);
  const first = made.map(({ key = '', value }) => ({ partition: partitionOf(key, partitionCount), value }));
  const at = Buffer.from(first[0]?.value ?? []).indexOf('"eventId":"') + '"eventId":"'.length;
  let count = 0;
  return () =>
    first.map(({ partition, value }) => {
      const own = Buffer.from(value);
      own.write(`${(count++).toString(16).padStart(8, '0')}-0000-5000-8000-000000000000`, at, 'latin1');
      return { partition, value: own };
    });
}

/**
 * Appends the records. A broker on a busy machine can refuse records, or the result can be unknown. Both kinds of records are appended again. A
 * record with an unknown result can be stored twice, so the log can contain a few more records than requested.
 */
async function appendAll(eventLog: EventLog, piece: readonly AppendRecord[]): Promise<void> {
  let left = piece;
  for (let tries = 0; left.length > 0; tries++) {
    if (tries === TRIES_MAX) throw new Error('the log refuses records');
    const outcomes = await eventLog.append(TOPIC_RAW, left);
    left = left.filter((_, index) => outcomes[index]?.status !== 'stored');
  }
}
