import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { useArchiver } from './archiver-harness.ts';

const harness = useArchiver();

test('a failure of the upkeep is shown as the error of the archiver, until a later run succeeds', async () => {
  let isDenied = true;
  const objects: ObjectStore = {
    ...harness.store,
    async put(name, body) {
      if (isDenied) throw new DependencyError('object_store_refused', 'access denied');
      await harness.store.put(name, body);
    },
  };
  const metrics = createMetrics();
  const archiver = await harness.start({ upkeepMs: 20 }, objects, metrics);
  const errors = () =>
    archiver.consumers.flatMap(({ topic, running }) =>
      running.status().flatMap(({ partition, lastError }) => (lastError ? [`${topic} ${partition} ${lastError}`] : [])),
    );
  const isFailing = async () => (await metrics.metrics()).includes('weir_archive_failing{work="upkeep"} 1');
  await eventually('the error of the upkeep', () => errors().length > 0);
  expect(errors()).toEqual(['events.raw 0 the upkeep of the archive failed: object_store_refused: access denied']);
  expect(await isFailing()).toBe(true);
  isDenied = false;
  await eventually('no error', async () => errors().length === 0 && !(await isFailing()));
});
