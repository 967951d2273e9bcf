import { normalizeIp } from '../net/ip-address.ts';

/** What stands before the time: `plain` is `client ident user`, `vhost` is `host client ident user`, `ovh` is `client host user`. */
export type ClfLayout = 'plain' | 'vhost' | 'ovh';

/** The fields of a line before its time: the first two, and all that follows. User names may hold spaces. */
export interface ClfHead {
  readonly first: string;
  readonly second: string;
  readonly rest: string;
}

const NAME =
  /^(?=.{1,253}$)[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?(?:\.[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?)*\.?$/u;
/** The last label of a host name is not a number: `999.1.1.1` is a broken address. */
const NUMERIC_END = /(?:^|\.)\d+\.?$/;
const PORT = /:\d{1,5}$/;
/** What servers write for a virtual host that has no name. */
const UNNAMED_HOST = /^(?:-|_|\*|_default_)$/;

/** The layout that a line has by itself. Fields that two layouts could have count as `plain`. */
export function clfLayoutOf({ first, second, rest }: ClfHead): ClfLayout {
  // A list of addresses from X-Forwarded-For, of which the first is the client.
  if (first.endsWith(',')) return 'plain';
  const longer = rest.includes(' ');
  const secondIsAddress = clientAddress(second) !== undefined;
  if (!secondIsAddress && !isDottedName(second)) return 'plain';
  if (hasPort(first)) return 'vhost';
  if (clientAddress(first) !== undefined) return secondIsAddress && longer ? 'vhost' : 'ovh';
  return longer ? 'vhost' : 'ovh';
}

/** The address in a client's field, with or without brackets and port. */
export function clientAddress(text: string): string | undefined {
  const bare = normalizeIp(text.replace(/^\[(.*)\]$/, '$1'));
  if (bare !== '') return bare;
  const withPort = /^(?:\[(.+)\]|([\d.]+)):\d{1,5}$/.exec(text);
  const address = normalizeIp(withPort?.[1] ?? withPort?.[2] ?? '');
  return address === '' ? undefined : address;
}

/** A host or address with a port. */
export function hasPort(text: string): boolean {
  return PORT.test(text) && normalizeIp(text) === '';
}

export function isHostName(text: string): boolean {
  return NAME.test(text) && !NUMERIC_END.test(text);
}

/** The host of a virtual host's field, without its port; empty where the server has no name for it, `undefined` where it is no host. */
export function virtualHost(text: string): string | undefined {
  if (UNNAMED_HOST.test(text.replace(PORT, ''))) return '';
  const address = clientAddress(text);
  if (address !== undefined) return address.includes(':') ? `[${address}]` : address;
  const host = text.replace(PORT, '').replace(/\.$/, '').toLowerCase();
  return isHostName(host) ? host : undefined;
}

function isDottedName(text: string): boolean {
  return text.includes('.') && isHostName(text);
}
