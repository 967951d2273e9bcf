import { availableParallelism } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { ConsumerStatus, Located } from '@weir/control/control-deps';
import { messageOf } from '@weir/domain/errors';
import type { DiskSpace } from '@weir/ports/disk-space';
import { awaitedLater } from '@weir/runtime/abortable';
import type { Config } from '@weir/runtime/config/config';
import { type Logger, writeLogLine } from '@weir/runtime/logger';
import type { ThreadMetrics } from '@weir/runtime/prometheus-metrics';
import { linkThreads, type OfferedBy, type ThreadLink } from '@weir/runtime/thread-link';
import type { OpenAnalytics } from '../ports/open-analytics.ts';
import type { EmbeddedLog } from '../ports/open-ports.ts';
import type { PipelineState } from '../ports/split-state-store.ts';
import type { Role } from '../roles.ts';
import type { ReadinessSource } from '../watch/readiness.ts';
import type { MainCalls, PipelineCalls, PipelineInput } from './pipeline-calls.ts';
import { serveTables } from './serve-tables.ts';
import { answeredWithin, watchHeartbeat } from './thread-answers.ts';
import { watchShortage } from './watch-shortage.ts';

const CORES_MIN = 2;
const NO_ANSWER = 'the pipeline thread does not answer';
/** Node sets the limit of the heap below this value only if the machine or the container has less than about 2 GB of memory. */
const SMALL_HEAP_BYTES = 1024 ** 3;
/** The semi-space (for young objects) of the thread, in MB, if the heap is small. `npm start` sets 32 MB, for which V8 reserves about 50 MB more. */
const SMALL_SEMI_SPACE_MB = 8;
const PIPELINE_ROLES: readonly Role[] = ['enricher', 'writer', 'archiver'];

/** The roles of this process that run in the pipeline thread. Empty if there is no such thread (docs/decisions/0042). */
export function rolesOfThread(roles: readonly Role[], { engines, pipelineThread }: Config): readonly Role[] {
  const embedded = engines.kafka === undefined && engines.redis === undefined;
  const others = roles.some((role) => !PIPELINE_ROLES.includes(role));
  if (!embedded || !others || pipelineThread === 'off') return [];
  if (pipelineThread === 'auto' && availableParallelism() < CORES_MIN) return [];
  return roles.filter((role) => PIPELINE_ROLES.includes(role));
}

/** The thread that runs the enricher, the writer, the archiver and replays, seen from the main thread. */
export interface PipelineThread {
  /** The state of the enricher. Its methods wait until the thread has opened the state store. */
  readonly state: PipelineState;
  start(deps: StartThreadDeps): RunningPipeline;
}

export interface StartThreadDeps {
  readonly config: Config;
  readonly log: EmbeddedLog;
  readonly store: Pick<OpenAnalytics, 'connection' | 'ready'> | undefined;
  readonly disk: DiskSpace | undefined;
  readonly logger: Logger;
}

export interface RunningPipeline {
  /** Resolves when all consumers of the thread run. Rejects if one of them cannot start. */
  readonly started: Promise<void>;
  status(): Promise<readonly ConsumerStatus[]>;
  /** Why the replay does not continue. Undefined if it continues, or if there is none. */
  replayProblem(): Promise<string | undefined>;
  /** Looks up the location of an address. The main thread has no geo data of its own: they need up to 60 MB. */
  locate(address: string): Promise<Located>;
  readonly readiness: ReadinessSource;
  /** The metrics of the thread. Undefined if it does not answer in time. */
  metrics(): Promise<ThreadMetrics | undefined>;
  close(): Promise<void>;
}

export interface PipelineThreadDeps {
  /** The program of the thread. */
  readonly entry: string;
  readonly roles: readonly Role[];
  /** Whether the thread carries out replays. */
  readonly replays: boolean;
}

export function createPipelineThread(program: PipelineThreadDeps): PipelineThread {
  let linked: (link: ThreadLink<PipelineCalls>) => void;
  const linking = new Promise<ThreadLink<PipelineCalls>>((resolve) => {
    linked = resolve;
  });
  return {
    state: stateOf(linking),
    start(deps) {
      const running = run(program, deps);
      linked(running.link);
      return running;
    },
  };
}

function run(
  { entry, roles, replays }: PipelineThreadDeps,
  { config, log, store, disk, logger }: StartThreadDeps,
): RunningPipeline & { readonly link: ThreadLink<PipelineCalls> } {
  const { logId, partitionCount } = log;
  const clickhouse = store?.connection;
  const workerData: PipelineInput = {
    ...{ config, roles, replays, logId, partitionCount, clickhouse },
    shortage: disk?.shortage(),
  };
  // V8 reads this flag when it creates the heap of the thread. `resourceLimits` of a Worker would not override the value of the command line.
  if (getHeapStatistics().heap_size_limit < SMALL_HEAP_BYTES) {
    setFlagsFromString(`--max-semi-space-size=${SMALL_SEMI_SPACE_MB}`);
  }
  const worker = new Worker(entry, { workerData });
  let closing = false;
  // A failure of the thread ends the process, like a failure of any other role. The next start continues the work. The thread alone cannot be
  // restarted, because the records that it was processing are assigned to this process.
  worker.on('error', (error) => {
    throw error;
  });
  worker.on('exit', (code) => {
    if (!closing) throw new Error(`the pipeline thread ended with code ${code}: start Weir again`);
  });

  const { appendEntries, commit, follow } = log.forThread;
  const tables = serveTables(log, (...change) => link.tell('changeRow', change));
  const link: ThreadLink<PipelineCalls> = linkThreads<PipelineCalls>(worker, {
    appendEntries,
    commit,
    follow: (topic) => follow(topic, (partition, end) => link.tell('advance', [topic, partition, end])),
    removeBefore: log.removeBefore,
    openTable: tables.openTable,
    putRow: tables.putRow,
    ping: log.ping,
    writeLine: (line) => writeLogLine(logger, line),
  } satisfies OfferedBy<MainCalls>);

  const shortage = watchShortage(disk, (found) => link.tell('setShortage', [found]));
  store?.ready.then(
    () => link.tell('tablesReady', [undefined]),
    (error: unknown) => link.tell('tablesReady', [messageOf(error)]),
  );
  const endHeartbeat = watchHeartbeat({
    ping: () => link.call('ping', []),
    who: 'the pipeline thread',
    consequence: 'the process ends, start Weir again',
    logger,
    onSilent(error) {
      throw error;
    },
  });

  return {
    link,
    started: awaitedLater(link.call('start', [])),
    ...requestsTo(link),
    async close() {
      shortage.end();
      endHeartbeat();
      try {
        await link.call('close', []);
      } finally {
        closing = true;
        link.close();
        await worker.terminate();
      }
    },
  };
}

/**
 * Returns the functions from which the main thread answers HTTP requests. If the pipeline thread does not answer in time, the functions report
 * that the thread is not ready, and leave out its status, its metrics and the problem of its replay.
 */
export function requestsTo(
  link: Pick<ThreadLink<PipelineCalls>, 'call'>,
  timeoutMs?: number,
): Pick<RunningPipeline, 'status' | 'replayProblem' | 'locate' | 'readiness' | 'metrics'> {
  const status = answeredWithin(() => link.call('status', []), timeoutMs);
  const replayProblem = answeredWithin(() => link.call('replayProblem', []), timeoutMs);
  const locate = answeredWithin((address: string) => link.call('locate', [address]), timeoutMs);
  const readiness = answeredWithin(() => link.call('readiness', []), timeoutMs);
  return {
    status: async () => (await status()) ?? [],
    replayProblem,
    locate: async (address) => (await locate(address)) ?? { place: undefined, data: '', problem: NO_ANSWER },
    readiness: async () => (await readiness()) ?? { missing: ['pipeline thread'], notes: [] },
    metrics: answeredWithin(() => link.call('metrics', []), timeoutMs),
  };
}

function stateOf(linking: Promise<ThreadLink<PipelineCalls>>): PipelineState {
  const call =
    <Name extends keyof PipelineState>(name: Name) =>
    async (...args: Parameters<PipelineState[Name]>): Promise<Awaited<ReturnType<PipelineState[Name]>>> =>
      (await (await linking).call('state', [name, args])) as Awaited<ReturnType<PipelineState[Name]>>;
  return {
    readEpoch: call('readEpoch'),
    checkIn: call('checkIn'),
    endEpoch: call('endEpoch'),
    insertFirstSeen: call('insertFirstSeen'),
    overwriteFirstSeen: call('overwriteFirstSeen'),
    readState: call('readState'),
    writeState: call('writeState'),
    removeState: call('removeState'),
    removeKeys: call('removeKeys'),
    removeSiteKeys: call('removeSiteKeys'),
    ping: call('ping'),
  };
}
