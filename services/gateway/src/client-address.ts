import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FoundClient } from '@weir/domain/found-client';
import { normalizeIp } from '@weir/domain/ip-address';
import { parseNetwork } from '@weir/domain/network';
import { compileNetworks } from '@weir/domain/network-table';
import { claimedAddress, forwardedClaims, type ReadClaims, xForwardedForClaims } from './forwarded-claims.ts';

/** The client's address, normalised; empty where the connection is gone. */
export type ClientAddress = (request: IncomingMessage) => string;

export interface ClientAddressConfig {
  /** Addresses and CIDRs, or a number of hops. None: nothing is believed. */
  readonly trustedProxies: readonly string[] | number;
  /** The one header to read, in lower case; undefined: `X-Forwarded-For`, and `Forwarded` where that is not sent. */
  readonly clientIpHeader: string | undefined;
}

/** Claims read of one header: more proxies than this stand before nobody. */
const HOPS_MAX = 32;

/**
 * A header is believed only as far as the trusted proxies go (decisions.md, collect): the connection's own end must be one,
 * and of a list of claims, each is believed while the one to its right is a trusted proxy. What is no address ends the chain
 * at the last one that is known.
 */
export function createFindClient({ trustedProxies, clientIpHeader }: ClientAddressConfig) {
  const none = typeof trustedProxies === 'number' ? trustedProxies === 0 : trustedProxies.length === 0;
  const trusts = typeof trustedProxies === 'number' ? firstHops(trustedProxies) : members(trustedProxies);
  const peerOf = createPeers();
  const readsForwarded = clientIpHeader === undefined || clientIpHeader === 'forwarded';
  const readsXForwardedFor = clientIpHeader !== 'forwarded';
  const single = clientIpHeader === 'x-forwarded-for' || clientIpHeader === 'forwarded' ? undefined : clientIpHeader;

  const follow = (peer: string, header: string, text: string, claims: ReadClaims): FoundClient => {
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

  return (request: IncomingMessage): FoundClient => {
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

export function createClientAddress(config: ClientAddressConfig): ClientAddress {
  const find = createFindClient(config);
  return (request) => find(request).address;
}

/** The value of a header of a CDN: one address. Sent twice, it is none. */
function singleAddress(name: string, value: string | string[] | undefined): string {
  if (typeof value !== 'string') return '';
  const text = value.trim();
  // CloudFront always adds the port, and leaves the brackets of IPv6 out.
  const bare = name === 'cloudfront-viewer-address' && !text.startsWith('[') ? text.replace(/:\d+$/, '') : text;
  return claimedAddress(bare);
}

/** A connection's other end never changes, and is asked for with every request. */
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
