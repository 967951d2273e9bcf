import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/metrics';
import { Gauge } from 'prom-client';
import type { HitNetworks } from './hit-networks.ts';

/**
 * Each gateway process counts its own: control, where it runs alone, takes no hits. Anybody may read the metrics, and "no answer
 * reveals anything of another site" (decisions.md): which sites they are, only the log says, and the admin API.
 */
export function showCrowdedSites(registry: Metrics, networks: HitNetworks, logger: Pick<Logger, 'warn'>): void {
  let told: ReadonlySet<string> = new Set();
  new Gauge({
    name: 'weir_gateway_crowded_sites',
    help: 'Sites most of whose hits come from one network. A proxy may be missing in TRUSTED_PROXIES.',
    registers: [registry],
    collect() {
      const crowded = networks.crowded();
      this.set(crowded.length);
      for (const { siteId, percent } of crowded) {
        if (!told.has(siteId)) logger.warn({ siteId, percent }, 'most hits of a site come from one network');
      }
      told = new Set(crowded.map(({ siteId }) => siteId));
    },
  });
}
