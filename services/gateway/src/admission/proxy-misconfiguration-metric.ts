import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { Gauge } from 'prom-client';
import type { SingleNetworkSites } from './proxy-misconfiguration-detector.ts';

/**
 * Reports the sites that `networks` finds. Any client can read the metrics without a token, so they contain only the number of sites. The log and the
 * admin API name the sites.
 */
export function reportSingleNetworkSites(
  registry: Metrics,
  networks: SingleNetworkSites,
  logger: Pick<Logger, 'warn'>,
): void {
  let reported: ReadonlySet<string> = new Set();
  new Gauge({
    name: 'weir_gateway_crowded_sites',
    help: 'Sites that get most hits from one network. A proxy may be missing in TRUSTED_PROXIES.',
    registers: [registry],
    async collect() {
      const crowded = await networks.singleNetworkSites();
      this.set(crowded.length);
      for (const { siteId, percent } of crowded) {
        if (!reported.has(siteId))
          logger.warn({ siteId, percent }, 'most hits of a site come from one network: check TRUSTED_PROXIES');
      }
      reported = new Set(crowded.map(({ siteId }) => siteId));
    },
  });
}
