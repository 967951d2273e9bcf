import { createConsumeMetrics, createMetrics } from '../src/prometheus-metrics.ts';

test('the delay of a revoked partition is removed: otherwise it would keep its last value and cause an alert', async () => {
  const registry = createMetrics();
  const metrics = createConsumeMetrics(registry, 'writer');
  metrics.delay(3, 400);
  metrics.delay(4, 1);
  metrics.revoked(3);
  // The enricher can be in the middle of a batch when its partition is revoked.
  metrics.delay(3, 500);
  const text = await registry.metrics();
  expect(text).not.toContain('weir_consume_delay_seconds{role="writer",partition="3"}');
  expect(text).toContain('weir_consume_delay_seconds{role="writer",partition="4"} 1');
  metrics.assigned(3);
  metrics.delay(3, 2);
  expect(await registry.metrics()).toContain('weir_consume_delay_seconds{role="writer",partition="3"} 2');
});

test('the counters of an assigned partition exist before they count, so that Prometheus sees their first increase', async () => {
  const registry = createMetrics();
  createConsumeMetrics(registry, 'writer').assigned(3);
  const text = await registry.metrics();
  // Without this 0, the alert WeirConsumerSilent would fire after the first record of a partition, if no second one follows.
  expect(text).toContain('weir_consumed_records_total{role="writer",partition="3"} 0');
  expect(text).toContain('weir_alarms_total{role="writer",partition="3"} 0');
  expect(text).toContain('weir_dead_rows_total{role="writer",partition="3"} 0');
});

test('a minute after a partition has processed its last record, its delay is 0: otherwise WeirBehind would fire until the next record', async () => {
  jest.useFakeTimers();
  const registry = createMetrics();
  const metrics = createConsumeMetrics(registry, 'writer');
  const delays = async () => {
    const found = await registry.getSingleMetric('weir_consume_delay_seconds')?.get();
    return found?.values.map(({ value }) => value);
  };
  // Partition 3 has processed its record, and partition 4 has not.
  metrics.delay(3, 400);
  metrics.delay(4, 500);
  metrics.idle(3);
  await jest.advanceTimersByTimeAsync(59_000);
  expect(await delays()).toEqual([400, 500]);
  // A new record of partition 3 begins another minute.
  metrics.delay(3, 300);
  await jest.advanceTimersByTimeAsync(2_000);
  metrics.idle(3);
  await jest.advanceTimersByTimeAsync(59_000);
  expect(await delays()).toEqual([300, 500]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await delays()).toEqual([0, 500]);
  metrics.delay(3, 200);
  expect(await delays()).toEqual([200, 500]);
  metrics.idle(3);
  metrics.revoked(3);
  await jest.advanceTimersByTimeAsync(120_000);
  expect(await delays()).toEqual([500]);
  // The batch of partition 4 has taken minutes. Its delay does not become 0 at once: the next batch can be as late.
  metrics.idle(4);
  await jest.advanceTimersByTimeAsync(59_000);
  expect(await delays()).toEqual([500]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await delays()).toEqual([0]);
  jest.useRealTimers();
});
