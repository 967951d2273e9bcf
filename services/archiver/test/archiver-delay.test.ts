import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { useArchiver } from './archiver-harness.ts';

const harness = useArchiver();

test('the delay grows while a segment cannot be stored, also without new records', async () => {
  await harness.append(20);
  const metrics = createMetrics();
  const away: ObjectStore = {
    ...harness.store,
    async create() {
      throw new DependencyError('object_store_unavailable', 'not now');
    },
  };
  await harness.start({}, away, metrics);
  const delays = async () => (await metrics.getSingleMetric('weir_consume_delay_seconds')?.get())?.values ?? [];
  const first = await eventually('the delay of both partitions of both topics', async () => {
    const found = await delays();
    return found.length === 4 && found;
  });
  expect(new Set(first.map(({ labels }) => labels.role))).toEqual(new Set(['archiver_raw', 'archiver_enriched']));
  await eventually('the delays have grown', async () =>
    (await delays()).every(({ value }, nth) => value > (first[nth]?.value ?? 0)),
  );
});
