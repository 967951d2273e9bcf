import { gaugeOf, type Metrics } from '../prometheus-metrics.ts';

/** `parquet`: the export of Parquet files. `upkeep`: the deletion of old segments (objects with archived records), and the manifest. */
type ArchiveWork = 'parquet' | 'upkeep';

/**
 * Creates the metric of one kind of work. The returned function sets whether the last attempt in this process has failed, or waits for an operator.
 */
export function createArchiveMetric(registry: Metrics, work: ArchiveWork): (isFailing: boolean) => void {
  const help =
    '1 while the export of Parquet files (parquet) or the upkeep of the archive (upkeep) fails, otherwise 0. Both are tried again.';
  const gauge = gaugeOf(registry, 'weir_archive_failing', help, ['work']);
  const set = (isFailing: boolean): void => gauge.set({ work }, isFailing ? 1 : 0);
  set(false);
  return set;
}
