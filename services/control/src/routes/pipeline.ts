import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/topics';
import type { Router } from 'express';
import type { ConsumerStatus, ControlDeps } from '../control-deps.ts';
import { defineRoute } from '../define-route.ts';
import { createLagRate } from '../lag-rate.ts';
import { ok } from '../reply.ts';
import { replyOfError } from '../send.ts';

const CONSUMERS = [
  { topic: TOPIC_RAW, consumer: GROUP_ENRICHER },
  { topic: TOPIC_ENRICHED, consumer: GROUP_WRITER },
] as const;

/** Per topic and consumer: lag, rate, last error, dead letters. */
export function pipelineRoutes(router: Router, deps: ControlDeps): void {
  const rates = CONSUMERS.map(() => createLagRate(deps.clock));
  defineRoute(router, '/pipeline', {
    get: async () => {
      const deadLetters = await countDeadLetters(deps);
      const consumers = await Promise.all(
        CONSUMERS.map(async ({ topic, consumer }, index) => {
          const positions = await deps.eventLog.positions(topic, consumer);
          const known = deps.pipelineStatus().find((status) => status.topic === topic && status.consumer === consumer);
          const partitions = positions.map(({ partition, first, end, committed }) => {
            const status = known?.partitions.find((candidate) => candidate.partition === partition);
            return {
              partition,
              first_offset: first,
              end_offset: end,
              committed_offset: committed ?? null,
              lag: end - Math.max(first, committed ?? first),
              last_error: status?.lastError ?? null,
              alarm: status?.alarm ?? null,
            };
          });
          const dealtWith = partitions.reduce((sum, { end_offset, lag }) => sum + end_offset - lag, 0);
          const sampled = rates[index]?.sample(dealtWith) ?? 0;
          return {
            topic,
            consumer,
            lag: partitions.reduce((sum, { lag }) => sum + lag, 0),
            rate_per_second: known === undefined ? sampled : measuredRate(known),
            last_error: partitions.find((partition) => partition.last_error !== null)?.last_error ?? null,
            alarm: partitions.find((partition) => partition.alarm !== null)?.alarm ?? null,
            dead_letters: deadLetters === null ? null : (deadLetters.get(topic) ?? 0),
            partitions,
          };
        }),
      );
      return ok(consumers);
    },
  });
}

function measuredRate(status: ConsumerStatus): number {
  return Math.round(status.partitions.reduce((sum, { recordsPerSecond }) => sum + recordsPerSecond, 0));
}

/** By topic; `null` while the analytics store is away: the rest of the page is needed most just then. */
async function countDeadLetters(deps: ControlDeps): Promise<ReadonlyMap<string, number> | null> {
  try {
    const rows = await deps.analytics.select<{ topic: string; letters: number | string }>(
      'SELECT topic, count() AS letters FROM dead_letters WHERE redriven_at IS NULL GROUP BY topic',
    );
    return new Map(rows.map(({ topic, letters }) => [topic, Number(letters)]));
  } catch (error) {
    if (replyOfError(error)?.status === 503) return null;
    throw error;
  }
}
