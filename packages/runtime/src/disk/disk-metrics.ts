import type { Gauge } from 'prom-client';
import { gaugeOf, type Metrics } from '../prometheus-metrics.ts';

export interface DiskMetrics {
  set(disk: string, now: { readonly free: number; readonly reserve: number; readonly isFull: boolean }): void;
}

export function createDiskMetrics(registry: Metrics): DiskMetrics {
  const gauge = (name: string, help: string): Gauge => gaugeOf(registry, name, help, ['disk']);
  const free = gauge('weir_disk_free_bytes', 'Free bytes of a disk that Weir writes to.');
  const reserve = gauge('weir_disk_reserve_bytes', 'Free bytes below which Weir stops adding data to the disk.');
  const full = gauge('weir_disk_full', '1 while less than the reserve is free, otherwise 0.');
  return {
    set(disk, now) {
      free.set({ disk }, now.free);
      reserve.set({ disk }, now.reserve);
      full.set({ disk }, now.isFull ? 1 : 0);
    },
  };
}
