import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { createGatewayMetrics } from '../src/gateway-metrics.ts';

test('the counters of failed appends exist before the first failure, so that Prometheus sees its increase', async () => {
  const registry = createMetrics();
  createGatewayMetrics(registry, () => 0);
  const text = await registry.metrics();
  expect(text).toContain('weir_gateway_append_failures_total{status="unknown"} 0');
  expect(text).toContain('weir_gateway_append_failures_total{status="refused"} 0');
});
