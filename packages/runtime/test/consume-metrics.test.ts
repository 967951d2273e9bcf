import { createConsumeMetrics, createMetrics } from '../src/prometheus-metrics.ts';

test('the delay of a revoked partition is removed: otherwise it would keep its last value and cause an alert', async () => {
  const registry = createMetrics();
  const metrics = createConsumeMetrics(registry, 'writer');
  metrics.delay(3, 400);
  metrics.delay(4, 1);
  metrics.revoked(3);
  const text = await registry.metrics();
  expect(text).not.toContain('weir_consume_delay_seconds{role="writer",partition="3"}');
  expect(text).toContain('weir_consume_delay_seconds{role="writer",partition="4"} 1');
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
