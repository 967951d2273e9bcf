import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { normalizeIp } from '@weir/domain/ip-address';
import proxyaddr from 'proxy-addr';

/** The client's address, normalised; empty where the connection is gone. */
export type ClientAddress = (request: IncomingMessage) => string;

/** `X-Forwarded-For` is believed only as far as the trusted proxies go (decisions.md, collect): addresses and CIDRs, or a number of hops. */
export function createClientAddress(trustedProxies: readonly string[] | number): ClientAddress {
  const none = typeof trustedProxies === 'number' ? trustedProxies === 0 : trustedProxies.length === 0;
  const trusts =
    typeof trustedProxies === 'number'
      ? (_address: string, hop: number) => hop < trustedProxies
      : proxyaddr.compile([...trustedProxies]);
  const peers = new WeakMap<Socket, string>();

  const peerOf = (socket: Socket): string => {
    let peer = peers.get(socket);
    if (peer === undefined) {
      peer = normalizeIp(socket.remoteAddress ?? '');
      peers.set(socket, peer);
    }
    return peer;
  };

  if (none) return (request) => peerOf(request.socket);
  return (request) => {
    let address = peerOf(request.socket);
    const forwarded = request.headers['x-forwarded-for'];
    if (forwarded === undefined) return address;
    const claims = String(forwarded).split(',');
    for (let hop = 0; hop < claims.length && address !== '' && trusts(address, hop); hop += 1) {
      const claimed = forwardedAddress(claims[claims.length - 1 - hop] ?? '');
      // What a trusted proxy writes is an address; "unknown" and the like end the chain at the last one that is known.
      if (claimed === '') break;
      address = claimed;
    }
    return address;
  };
}

/** One entry of the header: some proxies add the port, and put IPv6 in brackets. */
function forwardedAddress(entry: string): string {
  const text = entry.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text);
  if (bracketed?.[1] !== undefined) return normalizeIp(bracketed[1]);
  return normalizeIp(/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text);
}
