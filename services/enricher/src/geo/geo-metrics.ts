import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { Counter, Gauge } from 'prom-client';

export interface GeoMetrics {
  reloaded(result: 'swapped' | 'refused'): void;
  /** Counts an address whose entry in the geo data cannot be read. */
  damaged(): void;
}

export interface GeoGauges {
  /** The build date of the data in use, in Unix milliseconds. */
  readonly builtAt: () => number;
  /** True while the files on disk cannot be used and the older data stays in use. */
  readonly stale: () => boolean;
}

export function createGeoMetrics(registry: Metrics, gauges: GeoGauges): GeoMetrics {
  const registers = [registry];
  new Gauge({
    name: 'weir_geo_built_timestamp_seconds',
    help: 'Build date of the geo data in use.',
    registers,
    collect() {
      this.set(gauges.builtAt() / 1000);
    },
  });
  new Gauge({
    name: 'weir_geo_stale',
    help: '1 while the files of GEOIP_DATABASE cannot be used and the older data stays in use, or after the bundled data have changed on the disk.',
    registers,
    collect() {
      this.set(gauges.stale() ? 1 : 0);
    },
  });
  const reloads = new Counter({
    name: 'weir_geo_reloads_total',
    help: 'Changes of the geo files that were noticed, by result: swapped or refused.',
    labelNames: ['result'],
    registers,
  });
  const damages = new Counter({
    name: 'weir_geo_damaged_entries_total',
    help: 'Addresses whose entry in the geo data could not be read. Their location is unknown.',
    registers,
  });
  return {
    reloaded: (result) => reloads.inc({ result }),
    damaged: () => damages.inc(),
  };
}
