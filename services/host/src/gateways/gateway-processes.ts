import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import {
  joinSingleNetworkSites,
  type SingleNetworkSites,
} from '@weir/gateway/admission/proxy-misconfiguration-detector';
import type { DiskSpace } from '@weir/ports/disk-space';
import { pauseUnlessAborted } from '@weir/runtime/abortable';
import type { Config } from '@weir/runtime/config/config';
import { createGatewayTotals } from '@weir/runtime/metrics/gateway-totals';
import type { Metrics, ThreadMetrics } from '@weir/runtime/prometheus-metrics';
import { answeredWithin, watchHeartbeat } from '../thread/thread-answers.ts';
import { type ShortageWatch, watchShortage } from '../thread/watch-shortage.ts';
import { type ForkedGateway, type ForkGatewayDeps, forkGateway } from './fork-gateway.ts';
import type { GatewayInput } from './gateway-calls.ts';

/** A process that ended is started again after this pause. If it ends again soon, each further pause is twice as long. */
const RESTART_FIRST_MS = 100;
const RESTART_LAST_MS = 5_000;
const SOON_MS = 30_000;

type StartInput = Omit<GatewayInput, 'shortage'>;

export interface GatewayProcessesDeps extends ForkGatewayDeps {
  readonly config: Config;
  readonly publicDir: string;
  readonly disk: DiskSpace | undefined;
  readonly metrics: Metrics;
}

/** The gateway processes of this Weir (docs/decisions/0051). They accept connections on one port; a process that ends is started again. */
export interface GatewayProcesses extends SingleNetworkSites {
  /**
   * Starts the processes. Resolves with their port when all of them accept connections. Rejects if the port is not free, or with the reason why a
   * process cannot start.
   */
  start(mainSocket: string): Promise<number>;
  /** The text about processes that do not run, for /readyz. Undefined if all of them run. */
  note(): string | undefined;
  /** The sums of all processes. Counters include the last known values of processes that have ended, so that they never decrease. */
  readMetrics(): Promise<ThreadMetrics>;
  /** Resolves when all processes have answered their requests and have ended. */
  close(): Promise<void>;
}

export function createGatewayProcesses(deps: GatewayProcessesDeps): GatewayProcesses {
  const { config, disk, logger, metrics } = deps;
  const count = config.gatewayProcesses;
  const running = new Set<ForkedGateway>();
  const accepting = new Set<ForkedGateway>();
  const stop = new AbortController();
  const totals = createGatewayTotals(metrics, () => accepting.size);
  let shortage: ShortageWatch | undefined;
  let kept: Promise<void>[] = [];

  /** Runs one process until it ends. Rejects if it cannot start. */
  async function run(input: StartInput, onAccepting: () => void): Promise<void> {
    const gateway = forkGateway(deps, () => ({ ...input, shortage: shortage?.current() }));
    running.add(gateway);
    try {
      const early = await Promise.race([gateway.started.then(() => undefined), gateway.ended]);
      if (early === undefined) await watchAccepting(gateway, onAccepting);
      else if (early.signal === undefined)
        throw new Error(`a gateway process ended at its start with code ${early.code}`);
      else if (!stop.signal.aborted)
        logger.error(
          { pid: gateway.pid, ...early },
          'a gateway process was killed at its start: another one is started',
        );
    } finally {
      if (!stop.signal.aborted) gateway.kill();
      // If the system could not create the process, `ended` rejects.
      await gateway.ended.finally(() => running.delete(gateway));
    }
  }

  /** Watches a process that accepts connections. Resolves when the process has ended. */
  async function watchAccepting(gateway: ForkedGateway, onAccepting: () => void): Promise<void> {
    const { pid, link } = gateway;
    accepting.add(gateway);
    // The shortage of disk space can have changed while the process started.
    link.tell('setShortage', [shortage?.current()]);
    const source = totals.add(askProcess(() => link.call('metrics', [])));
    const endHeartbeat = watchHeartbeat({
      ping: () => link.call('ping', []),
      who: `the gateway process ${pid}`,
      consequence: 'it is ended with SIGKILL, and another one is started',
      logger,
      onSilent: gateway.kill,
    });
    logger.info({ pid }, 'a gateway process accepts requests');
    onAccepting();
    const end = await gateway.ended;
    endHeartbeat();
    source.end();
    accepting.delete(gateway);
    if (!stop.signal.aborted) logger.error({ pid, ...end }, 'a gateway process ended: another one is started');
  }

  /** Starts a process, and another one each time it ends. `onAccepting` is called at each start, `onFailure` for a start that fails. */
  async function keep(input: StartInput, onAccepting: () => void, onFailure: (error: unknown) => void): Promise<void> {
    for (let failures = 0; !stop.signal.aborted; ) {
      const startedAt = performance.now();
      try {
        await run(input, onAccepting);
      } catch (error) {
        if (stop.signal.aborted) return;
        logger.error({ err: error }, 'a gateway process could not start');
        onFailure(error);
      }
      if (stop.signal.aborted) return;
      totals.restarted();
      failures = performance.now() - startedAt < SOON_MS ? failures + 1 : 1;
      const pauseMs = Math.min(RESTART_FIRST_MS * 2 ** (failures - 1), RESTART_LAST_MS);
      await pauseUnlessAborted(pauseMs, stop.signal);
    }
  }

  return {
    async start(mainSocket) {
      shortage = watchShortage(disk, (found) => {
        for (const { link } of accepting) link.tell('setShortage', [found]);
      });
      const port = await findPort(config);
      const input = { config, port, mainSocket, publicDir: deps.publicDir };
      await Promise.all(
        Array.from({ length: count }, () => {
          return new Promise<void>((resolve, reject) => void kept.push(keep(input, resolve, reject)));
        }),
      );
      return port;
    },
    note() {
      return accepting.size === count ? undefined : `${accepting.size} of ${count} gateway processes accept requests`;
    },
    readMetrics: totals.read,
    async singleNetworkSites() {
      const asks = [...accepting].map(({ link }) => askProcess(() => link.call('singleNetworkSites', [])));
      const counted = await Promise.all(asks.map((ask) => ask()));
      return joinSingleNetworkSites(counted.map((sites) => sites ?? []));
    },
    async close() {
      stop.abort();
      shortage?.end();
      await Promise.all([...running].map((gateway) => gateway.close()));
      await Promise.all(kept);
      kept = [];
    },
  };
}

/** Wraps a call to a gateway process. The result is undefined if the process does not answer in time, or ends. */
function askProcess<Result>(call: () => Promise<Result>): () => Promise<Result | undefined> {
  const ask = answeredWithin(call);
  return () => ask().catch(() => undefined);
}

/**
 * Resolves with the port on which the processes will listen: a free one for port 0. Rejects with the error of the system if the process cannot
 * listen there, as `listen` of a single process does.
 */
async function findPort({ host, port }: Config): Promise<number> {
  const server = createServer();
  server.listen({ host, port });
  await once(server, 'listening');
  const found = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return found;
}
