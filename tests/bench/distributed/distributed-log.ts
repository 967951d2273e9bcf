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

/** What infra/kafka and the settings give a log on Kafka. */
export const PARTITIONS = 12;
const POLL_MS = 100;
const APPEND_RECORDS_MAX = 2_000;
const APPENDS_AT_ONCE = 4;
const TRIES_MAX = 20;

export interface BenchLog {
  /** Of the demo site, that the gateway's requests name. */
  readonly key: string;
  /** Appends so many records of the traffic. */
  fill(records: number): Promise<void>;
  /** Resolves when the group has committed `records` of the topic, each partition to its end. */
  caughtUp(topic: string, group: string, records: number): Promise<void>;
  close(): Promise<void>;
}

/** A log of its own on the cluster: `prefix` is before its topics and groups. */
export async function openBenchLog(brokers: string, prefix: string): Promise<BenchLog> {
  const eventLog = await openKafkaEventLog({
    brokers: brokers.split(','),
    clientId: 'weir-bench',
    topics: JSON.parse(readFileSync(join(PROJECT_ROOT, 'infra/kafka/topics.json'), 'utf8')) as TopicsSpec,
    topicPrefix: prefix,
    partitions: PARTITIONS,
    rawRetentionHours: 72,
    enrichedRetentionDays: 30,
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
  if (key === undefined) throw new Error('the log was there before');
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

/** The traffic again and again, each time with event IDs of its own, several appends at once. */
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

/** What an import would append, but for the event IDs: making those as an import does takes longer than the rest. */
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

/** On a machine that is busy with what is measured the log refuses some; a record that is there twice costs what any does. */
async function appendAll(eventLog: EventLog, piece: readonly AppendRecord[]): Promise<void> {
  let left = piece;
  for (let tries = 0; left.length > 0; tries++) {
    if (tries === TRIES_MAX) throw new Error('the log refuses records');
    const outcomes = await eventLog.append(TOPIC_RAW, left);
    left = left.filter((_, index) => outcomes[index]?.status !== 'stored');
  }
}
