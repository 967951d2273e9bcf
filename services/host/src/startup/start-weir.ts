import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import { abortable } from '@weir/runtime/abortable';
import { readOrCreateAdminToken } from '@weir/runtime/config/admin-token';
import { baseUrl } from '@weir/runtime/config/base-url';
import type { Config } from '@weir/runtime/config/config';
import { lockDataFolder } from '@weir/runtime/data-folder';
import type { Logger } from '@weir/runtime/logger';
import {
  createMetrics,
  joinMetrics,
  type Metrics,
  readMetrics,
  type ThreadMetrics,
} from '@weir/runtime/prometheus-metrics';
import { createApp } from '../create-app.ts';
import { createGatewayProcesses } from '../gateways/gateway-processes.ts';
import { openAnalytics } from '../ports/open-analytics.ts';
import { openArchive } from '../ports/open-archive.ts';
import { openBackups } from '../ports/open-backups.ts';
import { openPorts } from '../ports/open-ports.ts';
import { findProjectFiles } from '../ports/project-files.ts';
import { createSharedGeo, locateWith } from '../ports/shared-geo.ts';
import type { Role } from '../roles.ts';
import { createStack, type Stack } from '../stack.ts';
import { createPipelineThread, rolesOfThread } from '../thread/pipeline-thread.ts';
import { collectWhenIdle } from '../watch/collect-when-idle.ts';
import { startForgettingSalts } from '../watch/forget-salts.ts';
import { watchGuardRails } from '../watch/guard-rails.ts';
import { startMakingSalts } from '../watch/make-salts.ts';
import { createReadiness } from '../watch/readiness.ts';
import { watchDisks } from '../watch/watch-disks.ts';
import { watchRegistry } from '../watch/watch-registry.ts';
import { bannerText } from './banner-text.ts';
import { makeDemoSite } from './demo-site.ts';
import { listenOnPort } from './listen-on-port.ts';
import { requireEngines } from './require-engines.ts';
import { startControlWork, startWorkAfterBackups } from './start-control-work.ts';
import { startPipeline } from './start-pipeline.ts';
import { startReplays } from './start-replays.ts';
import { createStartupBanner } from './startup-banner.ts';

export interface StartOptions {
  readonly config: Config;
  readonly roles: readonly Role[];
  readonly logger: Logger;
  readonly clock: () => number;
  /** Receives the startup banner. */
  readonly print: (text: string) => void;
}

export interface Weir {
  /**
   * Resolves when every role runs, or when `close` was called first. Rejects if a role cannot start. All opened resources are closed
   * before the promise rejects.
   */
  readonly started: Promise<void>;
  /**
   * Stops accepting requests, finishes those in progress, and closes everything in the reverse order of the start. It also
   * ends a start that is in progress.
   */
  close(): Promise<void>;
}

/**
 * Starts the roles in this process. The process accepts requests as soon as the event log is available, although some roles may still wait for
 * their engines. After the restore of a backup, the role control first erases again the persons whose records the backup brought back.
 */
export function startWeir(options: StartOptions): Weir {
  const stack = createStack();
  const stop = new AbortController();
  const started = start(options, stack, stop.signal).catch(async (error: unknown) => {
    if (stop.signal.aborted) return;
    stop.abort();
    await stack.close();
    throw error;
  });
  return {
    started,
    async close() {
      stop.abort();
      await Promise.allSettled([started]);
      await stack.close();
    },
  };
}

async function start(
  { config, roles, logger, clock, print }: StartOptions,
  stack: Stack,
  stop: AbortSignal,
): Promise<void> {
  const needsTables = roles.includes('writer') || roles.includes('control');
  const embedded = usesDataFolder(config, needsTables);
  if (embedded) stack.add(await lockDataFolder(config.dataDir));
  stack.add(collectWhenIdle());
  const metrics = createMetrics();
  const readiness = createReadiness();
  const disks = embedded ? await watchDisks({ config, logger, metrics, readiness, stack }) : [];
  const [disk] = disks;
  const startupBanner = createStartupBanner(config);
  const admin = roles.includes('control') ? readOrCreateAdminToken(config.adminToken, config.dataDir) : undefined;
  const files = findProjectFiles();

  // ClickHouse takes the longest to start, so it is started first. The gateway does not wait for it.
  const store = needsTables ? await openAnalytics({ config, files, logger, disk, stack, stop }) : undefined;
  // If Weir runs from its TypeScript sources (npm run dev), it has no pipeline thread, because a thread cannot run TypeScript.
  const fromSources = files.pipelineWorker.endsWith('.ts');
  const threadRoles = fromSources ? [] : rolesOfThread(roles, config);
  if (fromSources && config.pipelineThread === 'on') {
    logger.warn('WEIR_PIPELINE_THREAD=on has no effect, because Weir runs from its sources: run npm start');
  }
  const hasReplays = store !== undefined && roles.includes('control');
  const thread =
    threadRoles.length === 0
      ? undefined
      : createPipelineThread({ entry: files.pipelineWorker, roles: threadRoles, replays: hasReplays });
  const ports = await openPorts({ config, logger, metrics, clock, disk, pipelineState: thread?.state, stack, stop });
  const intervalMs = config.guardIntervalMs;
  const registryWatch = stack.add(watchRegistry({ registry: ports.registry, intervalMs, logger, metrics }), (watch) =>
    watch.close(),
  );
  readiness.note(registryWatch.note);
  const rails =
    store === undefined ? [] : [{ engine: 'clickhouse', ready: store.ready, drift: () => store.analytics.drift() }];
  const guardRails = stack.add(
    watchGuardRails([...ports.guardRails, ...rails], { intervalMs, clock, logger, metrics }),
  );
  if (roles.includes('gateway') || roles.includes('control')) {
    const { registry } = ports;
    stack.add(startMakingSalts({ registry, intervalMs, clock, logger }));
  }
  if (roles.includes('enricher')) {
    const { rawRetentionMs } = config;
    const { registry, embeddedLog, sharedClock } = ports;
    const oldestUnreadAt = async () =>
      embeddedLog?.oldestUnreadAt(TOPIC_RAW, GROUP_ENRICHER) ?? Number.POSITIVE_INFINITY;
    const forgetting = { registry, oldestUnreadAt, rawRetentionMs, intervalMs, clock, sharedClock, logger };
    stack.add(startForgettingSalts(forgetting));
  }
  const mayBeFirst = embedded && (startupBanner.due || config.engines.kafka !== undefined);
  if (mayBeFirst && ports.registry.sites().length === 0) startupBanner.begin();
  const demoKey = mayBeFirst ? await makeDemoSite(ports.registry, clock(), startupBanner.interrupted) : undefined;

  requireEngines(roles, { ports, analytics: store?.analytics, readiness });
  const geo = createSharedGeo({ config, logger, metrics, stack });
  const archive = await openArchive(config, stack);
  const working = { roles, config, ports, store, disk, archive, logger, clock, metrics, readiness, geo };
  const { embeddedLog: log } = ports;
  const inThread = log && thread?.start({ config, log, store, disk, logger });
  if (inThread !== undefined) readiness.also(inThread.readiness);
  const pipeline = stack.add(inThread ?? startPipeline(working));
  const controlWork = stack.add(startControlWork(working));
  const replays = hasReplays && inThread === undefined ? stack.add(startReplays({ ...working, store })) : undefined;
  if (replays !== undefined) readiness.until('replay start', replays.started);

  const backups = await openBackups(working);
  if (backups !== undefined) stack.add(backups);
  await startWorkAfterBackups({ ...working, backups, stack, stop });

  const gateways =
    roles.includes('gateway') && config.gatewayProcesses > 1
      ? createGatewayProcesses({
          ...ports,
          entry: files.gatewayProcess,
          publicDir: files.publicDir,
          ...{ config, disk, logger, metrics },
        })
      : undefined;
  if (gateways !== undefined) readiness.note(gateways.note);
  const sources = [inThread?.metrics, gateways?.readMetrics].filter((read) => read !== undefined);
  const web = createApp({
    ...working,
    adminToken: admin?.token,
    closing: stop,
    files,
    pipelineStatus: async () => pipeline.status(),
    gateways,
    metricsText: sources.length === 0 ? undefined : () => textOf(metrics, sources),
    importTerm: controlWork.importTerm,
    replayProblem: async () => (inThread === undefined ? replays?.problem() : inThread.replayProblem()),
    locate: inThread?.locate ?? locateWith(geo),
    installation: {
      disks: () =>
        Promise.all(disks.map(async ({ name, reserveBytes, space }) => ({ name, reserveBytes, ...(await space()) }))),
      engines: guardRails.status,
      parquetProblem: controlWork.parquetProblem,
    },
    backups,
  });
  stop.throwIfAborted();
  const port = await listenOnPort({ web, gateways, config, logger, stack, stop });

  const isNewToken = admin?.created || (startupBanner.due && config.adminToken === undefined);
  print(
    bannerText({
      baseUrl: baseUrl(config.host, port),
      publicUrl: config.publicUrl,
      hasDashboard: roles.includes('control'),
      demoKey,
      newAdminToken: isNewToken ? admin?.token : undefined,
      tokenFolder: config.adminToken === undefined ? config.dataDir : undefined,
    }),
  );
  startupBanner.done();
  await abortable(Promise.all([pipeline.started, controlWork.started, replays?.started]), stop);
  logger.info({ roles, port }, 'ready');
}

/** The text of /metrics: the metrics of this thread, and those of other threads and processes that answer in time. */
async function textOf(own: Metrics, sources: readonly (() => Promise<ThreadMetrics | undefined>)[]): Promise<string> {
  const all = await Promise.all([readMetrics(own), ...sources.map((read) => read())]);
  return joinMetrics(all.filter((metrics) => metrics !== undefined));
}

/** Whether this process stores anything in the data folder. */
function usesDataFolder({ engines }: Config, needsTables: boolean): boolean {
  return (
    engines.kafka === undefined || engines.redis === undefined || (needsTables && engines.clickhouse === undefined)
  );
}
