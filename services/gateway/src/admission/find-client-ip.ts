import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ClientIp } from '@weir/domain/net/client-ip';
import { normalizeIp } from '@weir/domain/net/ip-address';
import { parseNetwork } from '@weir/domain/net/network';
import { compileNetworks } from '@weir/domain/net/network-table';
import { HOPS_MAX } from '@weir/runtime/config/http-config';
import { claimedAddress, forwardedClaims, type ReadClaims, xForwardedForClaims } from './parse-forwarded.ts';

export interface ClientIpConfig {
  /** IP addresses and CIDRs of the trusted proxies, or the number of proxies (hops). If empty or 0, no header is trusted. */
  readonly trustedProxies: readonly string[] | number;
  /**
   * The name of the header to read, in lower case. If it is undefined, `X-Forwarded-For` is read, or `Forwarded` for requests without
   * `X-Forwarded-For`. If it names another header, and this header has no valid address in a request, `X-Forwarded-For` is read.
   */
  readonly clientIpHeader: string | undefined;
}

/**
 * Returns a function that finds the client IP. It trusts a header only if the peer of the connection is a trusted proxy
 * (docs/operations.md, "Behind proxies"). A list of addresses is read from the right, because each proxy appends the address of its peer. The
 * search goes on to the next address on the left as long as the current address is a trusted proxy. A text that is not an address ends
 * the search, and the result is the address that was read before this text.
 */
export function createFindClientIp({ trustedProxies, clientIpHeader }: ClientIpConfig) {
  const none = typeof trustedProxies === 'number' ? trustedProxies === 0 : trustedProxies.length === 0;
  const trusts = typeof trustedProxies === 'number' ? firstHops(trustedProxies) : members(trustedProxies);
  const peerOf = createPeers();
  const readsForwarded = clientIpHeader === undefined || clientIpHeader === 'forwarded';
  const readsXForwardedFor = clientIpHeader !== 'forwarded';
  const single = clientIpHeader === 'x-forwarded-for' || clientIpHeader === 'forwarded' ? undefined : clientIpHeader;

  const follow = (peer: string, header: string, text: string, claims: ReadClaims): ClientIp => {
    const rest = claims(text)[Symbol.iterator]();
    let address = peer;
    let hop = 0;
    for (; hop < HOPS_MAX && trusts(address, hop); hop += 1) {
      const claimed = rest.next().value ?? '';
      if (claimed === '') break;
      address = claimed;
    }
    return { address, header: hop === 0 ? '' : header, peer, peerTrusted: true };
  };

  return (request: IncomingMessage): ClientIp => {
    const peer = peerOf(request.socket);
    if (none || peer === '' || !trusts(peer, 0)) return { address: peer, header: '', peer, peerTrusted: false };
    const { headers } = request;
    if (single !== undefined) {
      const address = singleAddress(single, headers[single]);
      if (address !== '') return { address, header: single, peer, peerTrusted: true };
    }
    const listed = headers['x-forwarded-for'];
    if (readsXForwardedFor && listed !== undefined) {
      return follow(peer, 'x-forwarded-for', String(listed), xForwardedForClaims);
    }
    if (readsForwarded && headers.forwarded !== undefined) {
      return follow(peer, 'forwarded', headers.forwarded, forwardedClaims);
    }
    return { address: peer, header: '', peer, peerTrusted: true };
  };
}

type Trusts = (address: string, hop: number) => boolean;

function firstHops(count: number): Trusts {
  return (_address, hop) => hop < count;
}

function members(texts: readonly string[]): Trusts {
  const networks = texts.map((text) => parseNetwork(text)).filter((network) => network !== undefined);
  const table = compileNetworks(networks.map((network) => [network, true]));
  return (address) => table(address) === true;
}

/** The address in a CDN's header, which contains a single address. Empty if the header is missing, was sent twice, or has no address. */
function singleAddress(name: string, value: string | string[] | undefined): string {
  if (typeof value !== 'string') return '';
  const text = value.trim();
  // CloudFront always adds the port, and writes IPv6 without brackets. So the last number is removed.
  const bare = name === 'cloudfront-viewer-address' && !text.startsWith('[') ? text.replace(/:\d+$/, '') : text;
  return claimedAddress(bare);
}

/** Returns the peer address of a connection from a cache. The address never changes and is needed for each request. */
function createPeers(): (socket: Socket) => string {
  const peers = new WeakMap<Socket, string>();
  return (socket) => {
    let peer = peers.get(socket);
    if (peer === undefined) {
      peer = normalizeIp(socket.remoteAddress ?? '');
      peers.set(socket, peer);
    }
    return peer;
  };
}
