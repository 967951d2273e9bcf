import type { Metrics } from '@weir/runtime/metrics';
import { Gauge } from 'prom-client';
import type { HitNetworks } from './hit-networks.ts';

const SITES_SHOWN_MAX = 100;

/** Each gateway process shows its own: control, where it runs alone, takes no hits. */
export function showCrowdedSites(registry: Metrics, networks: HitNetworks): void {
  new Gauge({
    name: 'weir_gateway_crowded_site_percent',
    help: 'Sites most of whose hits come from one network: how many of a hundred, at least. A proxy may be missing in TRUSTED_PROXIES.',
    labelNames: ['site_id'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { siteId, percent } of networks.crowded().slice(0, SITES_SHOWN_MAX)) {
        this.set({ site_id: siteId }, percent);
      }
    },
  });
}
