import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openKafkaEventLog } from '@weir/adapters/kafka-event-log';
import type { TopicsSpec } from '@weir/adapters/kafka-topics';
import { openLogRegistry } from '@weir/adapters/log-registry';
import { TOPIC_RAW } from '@weir/domain/topics';
import { makeDemoSite } from '@weir/host/demo-site';
import type { AppendRecord, EventLog } from '@weir/ports/event-log';
import { createLogger } from '@weir/runtime/logger';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { readTraffic, SITE } from './programs/traffic.ts';

/** What infra/kafka and the settings give a log on Kafka. */
export const PARTITIONS = 12;
const POLL_MS = 100;
const APPEND_RECORDS_MAX = 2_000;
const TRIES_MAX = 20;

export interface BenchLog {
  /** Of the demo site, that the gateway's requests name. */
  readonly key: string;
  /** Appends so many records of the traffic, in batches of one file. */
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
    clock: Date.now,
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
  let nextFile = 0;
  return {
    key,
    fill: (records) => fill(eventLog, records, () => `bench-${nextFile++}`),
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

/** One batch is made while the one before is under way. */
async function fill(eventLog: EventLog, records: number, newFile: () => string): Promise<void> {
  const traffic = readTraffic();
  let underWay: Promise<void> = Promise.resolve();
  for (let left = records; left > 0; ) {
    const batch = (await traffic.rawRecords(newFile())).slice(0, left);
    left -= batch.length;
    await underWay;
    underWay = appendAll(eventLog, batch);
  }
  await underWay;
}

/** On a machine that is busy with what is measured the log refuses some; a record that is there twice costs what any does. */
async function appendAll(eventLog: EventLog, batch: readonly AppendRecord[]): Promise<void> {
  for (let at = 0; at < batch.length; at += APPEND_RECORDS_MAX) {
    let left = batch.slice(at, at + APPEND_RECORDS_MAX);
    for (let tries = 0; left.length > 0; tries++) {
      if (tries === TRIES_MAX) throw new Error('the log refuses records');
      const outcomes = await eventLog.append(TOPIC_RAW, left);
      left = left.filter((_, index) => outcomes[index]?.status !== 'stored');
    }
  }
}
