import type { PartitionHandle } from '@weir/ports/event-log';
import { createAssignedPartitions } from '../src/consume/assigned-partitions.ts';
import { createConsumeMetrics, createMetrics } from '../src/prometheus-metrics.ts';

const NO_METRICS = { assigned: () => undefined, alarmed: () => undefined, revoked: () => undefined };

function handleOf(partition: number) {
  const stop = new AbortController();
  const handle: PartitionHandle = {
    topic: 't',
    partition,
    committed: { offset: 7, metadata: '' },
    signal: stop.signal,
    commit: async () => undefined,
    seek: () => undefined,
    wake: () => undefined,
  };
  return { handle, revoke: () => stop.abort() };
}

test('a revoked partition is removed, also if it was never opened', () => {
  const revoked: number[] = [];
  const assigned = createAssignedPartitions(() => 0, {
    ...NO_METRICS,
    revoked: (partition) => revoked.push(partition),
  });
  const [one, zero] = [handleOf(1), handleOf(0)];
  assigned.assign(one.handle).failed('not open yet');
  assigned.assign(zero.handle);
  expect(assigned.status().map(({ partition, nextOffset }) => [partition, nextOffset])).toEqual([
    [0, 7],
    [1, 7],
  ]);
  one.revoke();
  expect(assigned.status().map(({ partition }) => partition)).toEqual([0]);
  expect(assigned.progressOf(1)).toBeUndefined();
  expect(revoked).toEqual([1]);
});

test('retries of one assignment share their progress: an alarm is new only once', () => {
  const assigned = createAssignedPartitions(() => 0, NO_METRICS);
  const { handle } = handleOf(0);
  expect(assigned.assign(handle).raise('damaged')).toBe(true);
  expect(assigned.assign(handle).raise('damaged')).toBe(false);
  expect(assigned.assign(handleOf(0).handle).status().alarm).toBeUndefined();
});

test('when an older assignment ends, the newer one is not removed', () => {
  const revoked: number[] = [];
  const assigned = createAssignedPartitions(() => 0, {
    ...NO_METRICS,
    revoked: (partition) => revoked.push(partition),
  });
  const old = handleOf(0);
  assigned.assign(old.handle);
  assigned.assign(handleOf(0).handle);
  old.revoke();
  expect(assigned.status()).toHaveLength(1);
  expect(revoked).toEqual([]);
});

test('the metric of the alarm is 0 before the first alarm, 1 during an alarm, and removed with the partition', async () => {
  const registry = createMetrics();
  const assigned = createAssignedPartitions(() => 0, createConsumeMetrics(registry, 'writer'));
  const { handle, revoke } = handleOf(3);
  const scrape = async () =>
    /^weir_partition_alarm\{role="writer",partition="3"\} (.*)$/m.exec(await registry.metrics())?.[1];
  const progress = assigned.assign(handle);
  expect(await scrape()).toBe('0');
  progress.raise('damaged');
  expect(await scrape()).toBe('1');
  progress.recovered();
  expect(await scrape()).toBe('0');
  progress.raise('damaged');
  revoke();
  expect(await scrape()).toBeUndefined();
  progress.raise('still damaged');
  expect(await scrape()).toBeUndefined();
});
