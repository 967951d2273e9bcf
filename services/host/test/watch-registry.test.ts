import { createThreadLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { watchRegistry } from '../src/watch/watch-registry.ts';

test('a registry that this process cannot read is shown in the log, in a metric, and by /readyz', async () => {
  const lines: string[] = [];
  const logger = createThreadLogger('info', (line) => lines.push(line));
  const metrics = createMetrics();
  let unreadMs = 200;
  const watch = watchRegistry({ registry: { unreadMs: () => unreadMs }, intervalMs: 1, logger, metrics });
  expect(watch.note()).toBeUndefined();
  expect(await metrics.metrics()).toContain('weir_registry_unread_seconds 0.2');
  expect(lines).toEqual([]);

  unreadMs = 61_500;
  expect(watch.note()).toContain('at least one of the topics registry and salts was not read for 61 s');
  expect(await metrics.metrics()).toContain('weir_registry_unread_seconds 61.5');
  await eventually('the error', () => lines.length > 0);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 50,
    msg: expect.stringContaining('was not read for 61 s'),
  });

  unreadMs = 0;
  expect(watch.note()).toBeUndefined();
  watch.close();
});
