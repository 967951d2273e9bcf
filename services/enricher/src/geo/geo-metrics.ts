import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { Counter, Gauge } from 'prom-client';

export interface GeoMetrics {
  reloaded(result: 'swapped' | 'refused'): void;
  /** An address whose entry in the data can't be read. */
  damaged(): void;
}

export interface GeoGauges {
  /** Unix milliseconds at which the data that answers was built. */
  readonly builtAt: () => number;
  /** The files on disk can't be used, and the data read before answers on. */
  readonly stale: () => boolean;
}

export function createGeoMetrics(registry: Metrics, gauges: GeoGauges): GeoMetrics {
  const registers = [registry];
  new Gauge({
    name: 'weir_geo_built_timestamp_seconds',
    help: 'When the geo data that answers was built.',
    registers,
    collect() {
      this.set(gauges.builtAt() / 1000);
    },
  });
  new Gauge({
    name: 'weir_geo_stale',
    help: '1 while the files of GEOIP_DATABASE can not be used and the data read before answers on.',
    registers,
    collect() {
      this.set(gauges.stale() ? 1 : 0);
    },
  });
  const reloads = new Counter({
    name: 'weir_geo_reloads_total',
    help: 'Changes of the geo files, by what became of them.',
    labelNames: ['result'],
    registers,
  });
  const damages = new Counter({
    name: 'weir_geo_damaged_entries_total',
    help: 'Addresses whose entry in the geo data could not be read: they count as not known.',
    registers,
  });
  return {
    reloaded: (result) => reloads.inc({ result }),
    damaged: () => damages.inc(),
  };
}
