import { setTimeout as pause } from 'node:timers/promises';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import type { Fault } from '../suite/fault.ts';
import { type FaultyProxy, type ProxyMode, startFaultyProxy } from '../suite/faulty-proxy.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

const LEAST_MS = 1_000;
const MOST_MS = { short: 2_500, long: 10_000 } as const;

/** A Weir whose clients use a proxy that can disturb their connections. */
interface BehindProxy extends Embedded {
  readonly proxy: FaultyProxy;
}

const CLIENT_FAULTS: readonly (readonly [mode: ProxyMode, about: string])[] = [
  ['slow', 'data between clients and gateway is slow'],
  ['silent', 'connections between clients and gateway hang, and continue later'],
  ['half-open', 'data between clients and gateway is lost, and the connections stay open'],
  ['reset', 'connections between clients and gateway are reset when data comes'],
  ['away', 'clients cannot reach the gateway, and their connections are reset'],
];

async function openBehindProxy(): Promise<BehindProxy> {
  let proxy: FaultyProxy | undefined;
  const opened = await openEmbedded({}, async () => proxy?.close());
  proxy = await startFaultyProxy(Number(new URL(opened.url).port));
  return { ...opened, proxy, urls: [`http://127.0.0.1:${proxy.port}`] };
}

const FAULTS = CLIENT_FAULTS.map(
  ([mode, about]): Fault<BehindProxy> => ({
    name: `client-${mode}`,
    about,
    open: openBehindProxy,
    shares: 'behind a proxy',
    async strike({ proxy }, { random, short }) {
      proxy.set(mode);
      await pause(LEAST_MS + random() * ((short ? MOST_MS.short : MOST_MS.long) - LEAST_MS));
      proxy.set('pass');
    },
  }),
);

export const NETWORK_FAULTS: readonly Runnable[] = FAULTS.map(embedded);
