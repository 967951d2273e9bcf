// The program of a gateway process (docs/decisions/0051). The main process starts it, and starts it again if it ends.
import { randomBytes, randomFillSync } from 'node:crypto';
import { createEventIds } from '@weir/domain/ingest/event-id';
import { createProxyMisconfigurationDetector } from '@weir/gateway/admission/proxy-misconfiguration-detector';
import { createGatewayProcessApp } from '@weir/gateway/app';
import { createSnippetRoutes } from '@weir/gateway/http/snippet-routes';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import { startHttpServer } from '@weir/runtime/http/http-server';
import { createThreadLogger } from '@weir/runtime/logger';
import { createMetrics, readMetrics } from '@weir/runtime/prometheus-metrics';
import { linkThreads, type OfferedBy, type ThreadLink } from '@weir/runtime/thread-link';
import { createOwnedTables, type OwnedEngines, openGatewayPorts } from '../ports/open-gateway-ports.ts';
import { createStack } from '../stack.ts';
import { watchRegistry } from '../watch/watch-registry.ts';
import { createForward } from './forward-request.ts';
import type { GatewayCalls, GatewayInput, MainCalls } from './gateway-calls.ts';
import { parentProcessPort } from './process-port.ts';

if (process.send === undefined) throw new Error('this program is a process of Weir: run npm start');
// Ctrl-C in a terminal, a terminal that is closed, and some service managers send the signal to all processes. This process ignores it: the main
// process will call `close`.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The process cannot work without the main process, which has the embedded engines and writes the log lines. Clients send their requests again.
process.on('disconnect', () => process.exit(0));

const clock = Date.now;
const stack = createStack();
const metrics = createMetrics();
const proxyDetector = createProxyMisconfigurationDetector();
const stop = new AbortController();
let shortage: string | undefined;
let started: Promise<void> | undefined;

const link: ThreadLink<MainCalls> = linkThreads<MainCalls>(parentProcessPort(process), {
  start(input) {
    started = start(input);
    return started;
  },
  changeRow: (table, key, value) => tables.changeRow(table, key, value),
  setShortage(found) {
    shortage = found;
  },
  ping: () => undefined,
  metrics: () => readMetrics(metrics),
  singleNetworkSites: () => proxyDetector.singleNetworkSites(),
  async close() {
    stop.abort();
    await Promise.allSettled([started]);
    await stack.close();
  },
} satisfies OfferedBy<GatewayCalls>);

const owned: OwnedEngines = {
  append: (topic, records) => link.call('append', [topic, records]),
  openTable: (name) => link.call('openTable', [name]),
  putRow: (...args) => link.call('putRow', args),
  claimKeys: (keys) => link.call('claimKeys', [keys]),
  confirmKeys: (keys) => link.call('confirmKeys', [keys]),
  releaseKeys: (keys) => link.call('releaseKeys', [keys]),
  takeRateLimits: (takes) => link.call('takeRateLimits', [takes]),
};
const tables = createOwnedTables(owned);
link.tell('loaded', []);

async function start(input: GatewayInput): Promise<void> {
  const { config, port, mainSocket, publicDir } = input;
  shortage = input.shortage;
  const logger = createThreadLogger(config.logLevel, (line) => link.tell('writeLine', [line]));
  const ports = await openGatewayPorts({ config, owned, tables, logger, metrics, clock, stack, stop: stop.signal });
  const { registry } = ports;
  stack.add(watchRegistry({ registry, intervalMs: config.guardIntervalMs, logger, metrics }));
  const gateway = createGatewayProcessApp(
    {
      ...ports,
      config,
      addressSealer: createAddressSealer({ registry, randomBytes }),
      proxyDetector,
      disk: { shortage: () => shortage },
      routers: [createSnippetRoutes(publicDir)],
      ...{ clock, logger, metrics },
      newEventId: createEventIds(clock, (bytes) => randomFillSync(bytes)),
    },
    createForward(mainSocket),
  );
  stop.signal.throwIfAborted();
  const { host, drainTimeoutMs } = config;
  stack.add(
    await startHttpServer({ app: gateway.app, refuse: gateway.refuse, host, port, logger }),
    async (listening) => {
      await listening.close(drainTimeoutMs);
      await gateway.drain();
    },
  );
}
