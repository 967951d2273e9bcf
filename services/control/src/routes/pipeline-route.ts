import { setTimeout as pause } from 'node:timers/promises';
import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { AdminDeps, ConsumerStatus } from '../control-deps.ts';
import { OPEN_LETTER } from '../dead-letters/letter-filter.ts';
import { ok, type Reply, replyOfError } from '../http/admin-reply.ts';
import { lagOf } from '../pipeline/lag-rate.ts';

const CONSUMERS = [
  { topic: TOPIC_RAW, consumer: GROUP_ENRICHER },
  { topic: TOPIC_ENRICHED, consumer: GROUP_WRITER },
] as const;

/** The longest time that the answer waits for ClickHouse. While ClickHouse does not respond, the answer must still come, because it shows the lag. */
const COUNT_WITHIN_MS = 3_000;

/** Returns lag, rate, last error, alarm, number of dead letters and partitions for each topic and consumer. */
export async function pipeline(deps: AdminDeps): Promise<Reply> {
  const deadLetters = await Promise.race([countDeadLetters(deps), pause(COUNT_WITHIN_MS, null, { ref: false })]);
  return ok(await Promise.all(CONSUMERS.map((consumer) => consumerView(deps, consumer, deadLetters))));
}

async function consumerView(
  { eventLog, pipelineStatus, lagRateOf }: AdminDeps,
  { topic, consumer }: (typeof CONSUMERS)[number],
  deadLetters: ReadonlyMap<string, number> | null,
): Promise<object> {
  const positions = await eventLog.positions(topic, consumer);
  const known = (await pipelineStatus()).find((status) => status.topic === topic && status.consumer === consumer);
  const partitions = positions.map((position) => {
    const { partition, first, end, committed } = position;
    const status = known?.partitions.find((candidate) => candidate.partition === partition);
    return {
      partition,
      first_offset: first,
      end_offset: end,
      committed_offset: committed ?? null,
      lag: lagOf(position),
      last_error: status?.lastError ?? null,
      alarm: status?.alarm ?? null,
    };
  });
  const processed = partitions.reduce((sum, { end_offset, lag }) => sum + end_offset - lag, 0);
  const sampledRate = lagRateOf(topic).sample(processed);
  return {
    topic,
    consumer,
    lag: partitions.reduce((sum, { lag }) => sum + lag, 0),
    rate_per_second: known === undefined ? sampledRate : measuredRate(known),
    last_error: partitions.find((partition) => partition.last_error !== null)?.last_error ?? null,
    alarm: partitions.find((partition) => partition.alarm !== null)?.alarm ?? null,
    dead_letters: deadLetters === null ? null : (deadLetters.get(topic) ?? 0),
    partitions,
  };
}

function measuredRate(status: ConsumerStatus): number {
  return Math.round(status.partitions.reduce((sum, { recordsPerSecond }) => sum + recordsPerSecond, 0));
}

/** Counts dead letters by topic. `null` while ClickHouse is unavailable, so that the route can still show its other values. */
async function countDeadLetters(deps: AdminDeps): Promise<ReadonlyMap<string, number> | null> {
  try {
    const rows = await deps.tables.read(({ select }) =>
      select<{ topic: string; letters: number | string }>(
        `SELECT topic, count() AS letters FROM dead_letters WHERE ${OPEN_LETTER} GROUP BY topic`,
      ),
    );
    return new Map(rows.map(({ topic, letters }) => [topic, Number(letters)]));
  } catch (error) {
    if (replyOfError(error)?.status === 503) return null;
    throw error;
  }
}
