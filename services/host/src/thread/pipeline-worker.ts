// The program of the pipeline thread: enricher, writer, archiver and replays (docs/decisions/0042). The main thread starts it.
import { parentPort, workerData } from 'node:worker_threads';
import { DependencyError } from '@weir/domain/errors';
import { abortable, awaitedLater } from '@weir/runtime/abortable';
import { createThreadLogger } from '@weir/runtime/logger';
import { createMetrics, readMetrics } from '@weir/runtime/prometheus-metrics';
import { linkThreads, type ThreadLink } from '@weir/runtime/thread-link';
import { openArchive } from '../ports/open-archive.ts';
import { type LogOwner, openLogOfThread, openThreadPorts, type ThreadLog } from '../ports/open-thread-ports.ts';
import { createSharedGeo, locateWith } from '../ports/shared-geo.ts';
import { createStack } from '../stack.ts';
import { type Pipeline, startPipeline } from '../startup/start-pipeline.ts';
import { type Replays, startReplays } from '../startup/start-replays.ts';
import { collectWhenIdle } from '../watch/collect-when-idle.ts';
import { createReadiness } from '../watch/readiness.ts';
import type { MainCalls, PipelineCalls, PipelineInput } from './pipeline-calls.ts';

const {
  config,
  roles,
  logId,
  partitionCount,
  clickhouse,
  shortage: shortageAtStart,
  ...input
} = workerData as PipelineInput;
if (parentPort === null) throw new Error('this program is a thread of Weir: run npm start');

const clock = Date.now;
const stack = createStack();
const metrics = createMetrics();
const readiness = createReadiness();
const stop = new AbortController();
/** Resolves `tables`: ClickHouse's tables are up to date. */
let tablesReady = (): void => undefined;
let tablesFailed = (_problem: Error): void => undefined;
const tables = awaitedLater(
  new Promise<void>((resolve, reject) => {
    tablesReady = resolve;
    tablesFailed = reject;
  }),
);
let shortage = shortageAtStart;
let pipeline: Pipeline | undefined;
let replays: Replays | undefined;

const link: ThreadLink<MainCalls> = linkThreads<MainCalls>(parentPort, {
  start: () => started,
  advance: (topic, partition, end) => log.advance(topic, partition, end),
  changeRow: (table, key, value) => log.changeRow(table, key, value),
  setShortage(found) {
    shortage = found;
  },
  tablesReady(problem) {
    if (problem === undefined) tablesReady();
    else tablesFailed(new DependencyError('analytics_unavailable', problem));
  },
  ping: () => undefined,
  metrics: () => readMetrics(metrics),
  status: () => pipeline?.status() ?? [],
  replayProblem: () => replays?.problem(),
  async readiness() {
    return { missing: await readiness.missing(), notes: await readiness.notes() };
  },
  locate: (address) => locateWith(geo)(address),
  async state(name, args) {
    const { stateStore } = await opening;
    return (stateStore[name] as (...all: unknown[]) => Promise<unknown>)(...args);
  },
  async close() {
    stop.abort();
    await Promise.allSettled([started]);
    await stack.close();
  },
} satisfies PipelineCalls);

const logger = createThreadLogger(config.logLevel, (line) => link.tell('writeLine', [line]));
const owner: LogOwner = {
  logId,
  partitionCount,
  appendEntries: (topic, partition, entries) =>
    link.call(
      'appendEntries',
      [topic, partition, entries],
      entries.map(({ bytes }) => bytes.buffer as ArrayBuffer),
    ),
  commit: (...args) => link.call('commit', args),
  follow: (topic) => link.call('follow', [topic]),
  removeBefore: (...args) => link.call('removeBefore', args),
  openTable: (name) => link.call('openTable', [name]),
  putRow: (...args) => link.call('putRow', args),
  ping: () => link.call('ping', []),
};
const log: ThreadLog = openLogOfThread(config, owner);
const disk = { shortage: () => shortage };
const geo = createSharedGeo({ config, logger, metrics, stack });
const opening = openThreadPorts({ config, log, clickhouse, logger, clock, disk, stack });
const started = awaitedLater(start());

async function start(): Promise<void> {
  const ports = await opening;
  stack.add(collectWhenIdle());
  const archive = await openArchive(config, stack);
  const ready = awaitedLater(abortable(tables, stop.signal));
  const store = ports.tables && { ...ports.tables, ready };
  const working = { roles, config, ports, store, disk, archive, logger, clock, metrics, readiness, geo };
  pipeline = stack.add(startPipeline(working));
  if (store !== undefined && input.replays) {
    replays = stack.add(startReplays({ ...working, store }));
    readiness.until('replay start', replays.started);
  }
  await Promise.all([pipeline.started, replays?.started]);
}
