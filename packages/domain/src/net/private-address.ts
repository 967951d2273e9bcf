import { parseNetwork } from './network.ts';
import { compileNetworks } from './network-table.ts';

/** Loopback, link-local, private and shared networks (RFC 1122, 1918, 3927, 4193, 4291, 6598). No public address is in them. */
const NETWORKS = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1',
  'fc00::/7',
  'fe80::/10',
];

const table = compileNetworks(
  NETWORKS.map((text) => parseNetwork(text))
    .filter((network) => network !== undefined)
    .map((network) => [network, true]),
);

export function isPrivateAddress(ip: string): boolean {
  return table(ip) === true;
}
