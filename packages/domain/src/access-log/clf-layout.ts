import { normalizeIp } from '../net/ip-address.ts';

/** The fields before the time: `plain` is `client ident user`, `vhost` is `host client ident user`, `ovh` is `client host user`. */
export type ClfLayout = 'plain' | 'vhost' | 'ovh';

/** The fields of a line before its time. `rest`: all fields after the second one as one text, because a user name can contain spaces. */
export interface ClfHead {
  readonly first: string;
  readonly second: string;
  readonly rest: string;
}

const NAME =
  /^(?=.{1,253}$)[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?(?:\.[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?)*\.?$/u;
/** The last label of a host name is never a number, so `999.1.1.1` is an invalid address and not a host name. */
const NUMERIC_END = /(?:^|\.)\d+\.?$/;
const PORT = /:\d{1,5}$/;
/** Texts that servers write for a virtual host without a name. */
const UNNAMED_HOST = /^(?:-|_|\*|_default_)$/;

/**
 * Guesses the layout of a line from its fields. It is `plain` unless the second field is an address or a host name with a dot: the ident of
 * a user almost never looks like that. A `vhost` line has one field more than an `ovh` line.
 */
export function clfLayoutOf({ first, second, rest }: ClfHead): ClfLayout {
  // A comma means that the line begins with a list of addresses (X-Forwarded-For). The first address is the client.
  if (first.endsWith(',')) return 'plain';
  const longer = rest.includes(' ');
  const secondIsAddress = clientAddress(second) !== undefined;
  if (!secondIsAddress && !isDottedName(second)) return 'plain';
  if (hasPort(first)) return 'vhost';
  if (clientAddress(first) !== undefined) return secondIsAddress && longer ? 'vhost' : 'ovh';
  return longer ? 'vhost' : 'ovh';
}

/** The normalised address in the field of a client, which can have brackets and a port; `undefined` if it is not an address. */
export function clientAddress(text: string): string | undefined {
  const bare = normalizeIp(text.replace(/^\[(.*)\]$/, '$1'));
  if (bare !== '') return bare;
  const withPort = /^(?:\[(.+)\]|([\d.]+)):\d{1,5}$/.exec(text);
  const address = normalizeIp(withPort?.[1] ?? withPort?.[2] ?? '');
  return address === '' ? undefined : address;
}

/** True for a host or an address that is followed by a port. */
export function hasPort(text: string): boolean {
  return PORT.test(text) && normalizeIp(text) === '';
}

export function isHostName(text: string): boolean {
  return NAME.test(text) && !NUMERIC_END.test(text);
}

/**
 * The host in the field of a virtual host, without port. Empty for a placeholder such as `-` or `_default_`; `undefined` if the
 * text is not a host.
 */
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
