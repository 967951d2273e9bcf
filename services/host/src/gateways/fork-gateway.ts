import cluster from 'node:cluster';
import type { EventLog } from '@weir/ports/event-log';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import type { ClaimStore } from '@weir/ports/state-store';
import { awaitedLater } from '@weir/runtime/abortable';
import { type Logger, writeLogLine } from '@weir/runtime/logger';
import { linkThreads, type OfferedBy, type ThreadLink } from '@weir/runtime/thread-link';
import { takeAll } from '../ports/open-gateway-ports.ts';
import { serveTables } from '../thread/serve-tables.ts';
import type { GatewayCalls, GatewayInput, MainCalls } from './gateway-calls.ts';
import { createHeldClaims } from './held-claims.ts';
import { childPort } from './process-port.ts';

export interface ForkGatewayDeps {
  /** The program of the process. */
  readonly entry: string;
  readonly eventLog: Pick<EventLog, 'append' | 'openTable'>;
  readonly stateStore: ClaimStore;
  readonly rateLimiter: RateLimiter;
  readonly logger: Logger;
}

/** A gateway process, seen from the main process. */
export interface ForkedGateway {
  readonly pid: number | undefined;
  /** Use it only after `started` has resolved. */
  readonly link: Pick<ThreadLink<GatewayCalls>, 'call' | 'tell'>;
  /**
   * Resolves when the process accepts connections. Rejects with the reason why it cannot. If the process ends before that, `ended` resolves, and
   * this promise may never settle.
   */
  readonly started: Promise<void>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<GatewayEnd>;
  /** Resolves when the process has answered its requests and has ended. Rejects if its engines cannot be closed. */
  close(): Promise<void>;
  kill(): void;
}

export interface GatewayEnd {
  /** Undefined if a signal ended the process. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** Starts a gateway process and gives it `input()`. Carries out the calls that the process sends for the embedded engines. */
export function forkGateway(deps: ForkGatewayDeps, input: () => GatewayInput): ForkedGateway {
  const { eventLog, rateLimiter, logger } = deps;
  // The main process accepts the connections and gives them to the processes in turn. If the processes accepted them, one of them could get nearly
  // all.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: deps.entry, args: [], serialization: 'advanced' });
  const worker = cluster.fork();
  const claims = createHeldClaims(deps.stateStore);
  const tables = serveTables(eventLog, (...change) => link.tell('changeRow', change));
  let isLoaded = false;
  let load = (): void => undefined;
  const loaded = new Promise<void>((resolve) => {
    load = resolve;
  });

  const link = linkThreads<GatewayCalls>(childPort(worker.process), {
    loaded() {
      isLoaded = true;
      load();
    },
    append: (topic, records) => eventLog.append(topic, records),
    openTable: tables.openTable,
    putRow: tables.putRow,
    claimKeys: claims.claimKeys,
    confirmKeys: claims.confirmKeys,
    releaseKeys: claims.releaseKeys,
    takeRateLimits: (takes) => takeAll(rateLimiter, takes),
    writeLine: (line) => writeLogLine(logger, line),
  } satisfies OfferedBy<MainCalls>);

  const ended = new Promise<GatewayEnd>((resolve, reject) => {
    // Without a process ID, the process could not be started. Other errors are ignored: a message was sent to a process that has just ended.
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) reject(error);
    });
    worker.once('exit', (code: number | null, signal: string | null) => {
      // `ended` resolves first. `link.close` then rejects the calls that have no answer.
      resolve({ code: code ?? undefined, signal: signal ?? undefined });
      link.close();
      tables.close();
      void claims.releaseAll();
    });
  });
  return {
    pid: worker.process.pid,
    link,
    started: awaitedLater(loaded.then(() => link.call('start', [input()]))),
    ended: awaitedLater(ended),
    async close() {
      try {
        if (isLoaded) await Promise.race([link.call('close', []), ended]);
      } finally {
        if (worker.isConnected()) worker.process.disconnect();
        await ended;
      }
    },
    kill: () => void worker.process.kill('SIGKILL'),
  };
}
