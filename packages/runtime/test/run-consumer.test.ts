import { DependencyError } from '@weir/domain/errors';
import type { ConsumeOptions, EventLog } from '@weir/ports/event-log';
import { runConsumer } from '../src/consume/run-consumer.ts';
import { createLogger } from '../src/logger.ts';
import { createMetrics } from '../src/prometheus-metrics.ts';

test('work that a consumer completes later does not clear the alarm about a log that has lost records', async () => {
  let subscribed: ConsumeOptions | undefined;
  const ends: number[] = [];
  const running = await runConsumer({
    role: 'enricher',
    topic: 'topic',
    group: 'group',
    clock: Date.now,
    logger: createLogger('silent'),
    metrics: createMetrics(),
    eventLog: {
      async consume(options: ConsumeOptions) {
        subscribed = options;
        return { joined: () => true, close: async () => undefined };
      },
    } as EventLog,
    openPartition: async ({ progress }) => ({
      handle: async () => progress.recovered(),
      truncated: async (end) => void ends.push(end),
      close: async () => undefined,
    }),
  });
  const { open, onError } = subscribed as ConsumeOptions;
  const { signal } = new AbortController();
  const consumer = await open({
    ...{ topic: 'topic', partition: 0, committed: undefined, signal },
    ...{ commit: async () => undefined, seek: () => undefined, wake: () => undefined },
  });
  const alarm = (): string | undefined => running.status()[0]?.alarm;

  onError(new DependencyError('event_log_damaged', 'a record is missing'), 0);
  expect(alarm()).toContain('a record is missing');
  await consumer.handle([]);
  expect(alarm()).toBeUndefined();

  await consumer.truncated?.(4);
  expect(ends).toEqual([4]);
  onError(new DependencyError('event_log_damaged', 'the log has lost records'), 0);
  await consumer.handle([]);
  expect(alarm()).toContain('the log has lost records');
});
