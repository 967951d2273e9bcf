import { isPrivateAddress } from '@weir/domain/net/private-address';

/**
 * A site that gets most of its hits from one network. The usual reason is that a proxy is missing in TRUSTED_PROXIES: all
 * visitors then have the address of the proxy.
 */
export interface SingleNetworkSite {
  readonly siteId: string;
  /** The number of counted hits. It is halved from time to time, so that recent hits count more. */
  readonly hits: number;
  /** A lower bound of the percentage of hits that come from this network. */
  readonly percent: number;
  /** True if the network is private, so visitors on the public Internet cannot be in it. */
  readonly isPrivate: boolean;
}

/** The sites that get most of their hits from one network, as one or several processes have counted them. */
export interface SingleNetworkSites {
  singleNetworkSites(): readonly SingleNetworkSite[] | Promise<readonly SingleNetworkSite[]>;
}

export interface ProxyMisconfigurationDetector extends SingleNetworkSites {
  /** Counts an accepted hit. `visitorNetwork`: the IPv4 address itself, or the /64 of an IPv6 address. */
  count(siteId: string, ip: string, visitorNetwork: string): void;
  singleNetworkSites(): readonly SingleNetworkSite[];
}

interface SiteCounts {
  hits: number;
  readonly byNetwork: Map<string, number>;
}

const SITES_MAX = 10_000;
const NETWORKS_PER_SITE_MAX = 8;
/**
 * When a site has this many hits, all its counts are halved. Recent hits therefore count more, and the result changes soon after a wrong setting was
 * corrected.
 */
const HITS_PER_SITE_MAX = 2_000;
const HITS_TO_JUDGE_MIN = 100;
const CROWDED_PERCENT_MIN = 50;
const PRIVATE = 'private';

/**
 * Counts the hits of each site by network (IPv4 /24, IPv6 /48, all private networks together) with eight counters per site.
 * With this algorithm (Misra-Gries), a network with most of the hits always has a counter, and no counter is too high. The
 * counts are only in memory, and no address leaves the process.
 */
export function createProxyMisconfigurationDetector(): ProxyMisconfigurationDetector {
  const sites = new Map<string, SiteCounts>();

  return {
    count(siteId, ip, visitorNetwork) {
      let counts = sites.get(siteId);
      if (counts === undefined) {
        if (sites.size >= SITES_MAX) sites.clear();
        counts = { hits: 0, byNetwork: new Map() };
        sites.set(siteId, counts);
      }
      counts.hits += 1;
      add(counts.byNetwork, networkOf(ip, visitorNetwork));
      if (counts.hits >= HITS_PER_SITE_MAX) halve(counts);
    },
    singleNetworkSites() {
      const crowded: SingleNetworkSite[] = [];
      for (const [siteId, { hits, byNetwork }] of sites) {
        const most = [...byNetwork].reduce((top, one) => (one[1] > top[1] ? one : top), ['', 0] as [string, number]);
        const percent = Math.floor((100 * most[1]) / hits);
        if (hits < HITS_TO_JUDGE_MIN || percent < CROWDED_PERCENT_MIN) continue;
        crowded.push({ siteId, hits, percent, isPrivate: most[0] === PRIVATE });
      }
      return crowded;
    },
  };
}

/** Joins the counts of several gateway processes. The percentage of a site is that of the process with most hits of this site. */
export function joinSingleNetworkSites(
  counted: readonly (readonly SingleNetworkSite[])[],
): readonly SingleNetworkSite[] {
  const joined = new Map<string, { most: SingleNetworkSite; hits: number }>();
  for (const site of counted.flat()) {
    const { most = site, hits = 0 } = joined.get(site.siteId) ?? {};
    joined.set(site.siteId, { most: site.hits > most.hits ? site : most, hits: hits + site.hits });
  }
  return [...joined.values()].map(({ most, hits }) => ({ ...most, hits }));
}

function add(byNetwork: Map<string, number>, network: string): void {
  const known = byNetwork.get(network);
  if (known !== undefined || byNetwork.size < NETWORKS_PER_SITE_MAX) {
    byNetwork.set(network, (known ?? 0) + 1);
    return;
  }
  for (const [other, count] of byNetwork) {
    if (count === 1) byNetwork.delete(other);
    else byNetwork.set(other, count - 1);
  }
}

function halve(counts: SiteCounts): void {
  counts.hits = Math.ceil(counts.hits / 2);
  for (const [network, count] of counts.byNetwork) {
    if (count === 1) counts.byNetwork.delete(network);
    else counts.byNetwork.set(network, Math.floor(count / 2));
  }
}

function networkOf(ip: string, visitorNetwork: string): string {
  if (isPrivateAddress(ip)) return PRIVATE;
  if (!ip.includes(':')) return ip.slice(0, ip.lastIndexOf('.'));
  return visitorNetwork.split(':', 3).join(':');
}
