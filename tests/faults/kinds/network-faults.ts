import { connectionFaults } from '../suite/connection-faults.ts';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import { type FaultyProxy, startFaultyProxy } from '../suite/faulty-proxy.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

/** A Weir behind a proxy that can disturb connections. The load uses the proxy (`urls`). `client` does not. */
interface BehindProxy extends Embedded {
  readonly proxy: FaultyProxy;
}

async function openBehindProxy(): Promise<BehindProxy> {
  let proxy: FaultyProxy | undefined;
  const opened = await openEmbedded({}, async () => proxy?.close());
  proxy = await startFaultyProxy(Number(new URL(opened.url).port));
  return { ...opened, proxy, urls: [`http://127.0.0.1:${proxy.port}`] };
}

export const NETWORK_FAULTS: readonly Runnable[] = connectionFaults(
  { name: 'client', from: 'clients', to: 'the gateway' },
  { open: openBehindProxy, shares: 'behind a proxy' },
  ({ proxy }) => [proxy],
).map(embedded);
