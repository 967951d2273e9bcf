import { isIP } from 'node:net';
import { parseNetwork } from '@weir/domain/net/network';
import type { EnvReader } from './env-reader.ts';

/** From which address and on which paths Weir accepts requests, and how it finds the client IP. */
export interface HttpConfig {
  readonly host: string;
  readonly collectPaths: readonly string[];
  /** Addresses and CIDRs of proxies, or the number of proxies. */
  readonly trustedProxies: readonly string[] | number;
  /** The header with the client IP, in lower case. If it is undefined, Weir reads `X-Forwarded-For`, or else `Forwarded` (find-client-ip.ts). */
  readonly clientIpHeader: string | undefined;
}

const TAKEN_PATHS =
  /^\/(api\/(admin(\/.*)?|v1\/events(\/.*)?|identify|collect)|healthz|readyz|metrics|openapi\.json|weir[.\w-]*\.m?js|dashboard(\/.*)?|demo(\/.*)?)\/?$/;

/** The last label must not consist of digits: that would be an invalid IP address. */
const HOST_NAME = /^(?=.{1,253}$)([a-z0-9_-]{1,63}\.)*(?!\d+$)[a-z0-9_-]{1,63}$/i;
/** At most this many proxies can be trusted, and at most this many addresses of a header are read. */
export const HOPS_MAX = 32;

export function readHttpConfig(reader: EnvReader): HttpConfig {
  const host = readHost(reader);
  const collectPaths = readCollectPaths(reader);
  const trustedProxies = readTrustedProxies(reader);
  return { host, collectPaths, trustedProxies, clientIpHeader: readClientIpHeader(reader, trustedProxies) };
}

function readHost(reader: EnvReader): string {
  const host = reader.text('HOST') ?? '127.0.0.1';
  if (isIP(host) === 0 && !HOST_NAME.test(host)) {
    reader.problem(`HOST must be an IP address or a host name of this machine, not "${host}"`);
  }
  return host;
}

/** Returns each path once and without slashes at its end: the routes accept each path with and without one slash at its end. */
function readCollectPaths(reader: EnvReader): readonly string[] {
  const paths = new Set<string>();
  for (const sent of reader.list('COLLECT_PATHS')) {
    const path = sent.replace(/\/+$/, '');
    if (!/^\/[A-Za-z0-9/_.~-]{1,200}$/.test(path) || TAKEN_PATHS.test(path)) {
      reader.problem(
        `COLLECT_PATHS must contain absolute paths that Weir does not use itself, such as /t/hit, not "${sent}"`,
      );
    }
    paths.add(path);
  }
  return [...paths];
}

function readTrustedProxies(reader: EnvReader): readonly string[] | number {
  const proxies = reader.list('TRUSTED_PROXIES');
  const [first = ''] = proxies;
  if (proxies.length === 1 && /^\d+$/.test(first)) {
    const hops = Number(first);
    if (hops > HOPS_MAX) reader.problem(`TRUSTED_PROXIES as a hop count must be at most ${HOPS_MAX}`);
    return hops;
  }
  for (const proxy of proxies) {
    if (parseNetwork(proxy) === undefined)
      reader.problem(`TRUSTED_PROXIES: "${proxy}" is not an address, a CIDR or a hop count`);
  }
  return proxies;
}

function readClientIpHeader(reader: EnvReader, trustedProxies: readonly string[] | number): string | undefined {
  const header = reader.text('CLIENT_IP_HEADER')?.toLowerCase();
  if (header === undefined) return undefined;
  if (!/^[a-z0-9-]{1,64}$/.test(header)) {
    reader.problem('CLIENT_IP_HEADER must be the name of a header, such as CF-Connecting-IP');
  }
  const trustsNone = typeof trustedProxies === 'number' ? trustedProxies === 0 : trustedProxies.length === 0;
  if (trustsNone)
    reader.problem('CLIENT_IP_HEADER needs TRUSTED_PROXIES: the header is only read from trusted proxies');
  return header;
}
