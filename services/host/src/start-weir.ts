import { readOrMakeAdminToken } from '@weir/runtime/admin-token';
import { baseUrl } from '@weir/runtime/base-url';
import type { Config } from '@weir/runtime/config';
import { takeDataFolder } from '@weir/runtime/data-folder';
import { startHttpServer } from '@weir/runtime/http-server';
import type { Logger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/metrics';
import { createApp } from './create-app.ts';
import { makeDemoSite } from './demo-site.ts';
import { createFirstWelcome } from './first-welcome.ts';
import { startForgettingSalts } from './forget-salts.ts';
import { watchGuardRails } from './guard-rails.ts';
import { openAnalytics } from './open-analytics.ts';
import { openPorts } from './open-ports.ts';
import { findProjectFiles } from './project-files.ts';
import { createReadiness } from './readiness.ts';
import { requireEngines } from './require-engines.ts';
import type { Role } from './roles.ts';
import { createSharedGeo } from './shared-geo.ts';
import { createStack, type Stack } from './stack.ts';
import { startConsumers } from './start-consumers.ts';
import { unlessStopped } from './unless-stopped.ts';
import { welcome } from './welcome.ts';

const HOUR_MS = 3_600_000;

export interface StartOptions {
  readonly config: Config;
  readonly roles: readonly Role[];
  readonly logger: Logger;
  readonly clock: () => number;
  /** Where the text for people goes. */
  readonly print: (text: string) => void;
}

export interface Weir {
  /**
   * Resolves when every role does its work, or when a `close` came first. Rejects when one of them never will; what was opened
   * is closed again then.
   */
  readonly started: Promise<void>;
  /**
   * Stops taking requests, finishes those under way, and lets go of everything, in the reverse order of the start. A start that
   * is under way goes no further.
   */
  close(): Promise<void>;
}

/** Starts the roles in this process. Requests are taken as soon as the log is there, whatever the other roles wait for. */
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
  if (embedded) stack.add(await takeDataFolder(config.dataDir), (folder) => folder.close());
  const firstWelcome = createFirstWelcome(config);
  const admin = roles.includes('control') ? readOrMakeAdminToken(config.adminToken, config.dataDir) : undefined;
  const files = findProjectFiles();
  const metrics = createMetrics();
  const readiness = createReadiness();

  // ClickHouse takes longest to come up, so it is begun first; the gateway does not wait for it.
  const store = needsTables ? await openAnalytics({ config, files, logger, stack, stop }) : undefined;
  const ports = await openPorts({ config, logger, clock, stack, stop });
  const intervalMs = config.guardIntervalMs;
  const rails =
    store === undefined ? [] : [{ engine: 'clickhouse', ready: store.ready, drift: () => store.analytics.drift() }];
  stack.add(watchGuardRails([...ports.guardRails, ...rails], { intervalMs, logger, metrics }), (watch) =>
    watch.close(),
  );
  if (roles.includes('enricher')) {
    const rawRetentionMs = config.rawRetentionHours * HOUR_MS;
    const { registry } = ports;
    stack.add(startForgettingSalts({ registry, rawRetentionMs, intervalMs, clock, logger }), (job) => job.close());
  }
  const mayBeFirst = embedded && (firstWelcome.due || config.engines.kafka !== undefined);
  const demoKey = mayBeFirst ? await makeDemoSite(ports.registry, clock(), firstWelcome.due) : undefined;

  requireEngines(roles, { ports, analytics: store?.analytics, readiness });
  const geo = createSharedGeo({ config, logger, metrics, stack });
  const consumers = startConsumers({ roles, config, ports, store, logger, clock, metrics, readiness, geo });
  stack.add(consumers, (started) => started.close());

  const web = createApp({
    roles,
    config,
    ports,
    analytics: store?.analytics,
    adminToken: admin?.token,
    files,
    pipelineStatus: consumers.status,
    logger,
    clock,
    metrics,
    readiness,
    geo,
  });
  stop.throwIfAborted();
  const server = stack.add(
    await startHttpServer({ app: web.app, refuse: web.refuse, host: config.host, port: config.port, logger }),
    async (listening) => {
      await listening.close(config.drainTimeoutMs);
      await web.drain();
    },
  );

  const isNewToken = admin?.made || (firstWelcome.due && config.adminToken === undefined);
  print(
    welcome({
      baseUrl: baseUrl(config.host, server.port),
      hasDashboard: roles.includes('control'),
      demoKey,
      newAdminToken: isNewToken ? admin?.token : undefined,
    }),
  );
  firstWelcome.done();
  await unlessStopped(consumers.started, stop);
  logger.info({ roles, port: server.port }, 'ready');
}

/** Whether anything of this process lives in the data folder. */
function usesDataFolder({ engines }: Config, needsTables: boolean): boolean {
  return (
    engines.kafka === undefined || engines.redis === undefined || (needsTables && engines.clickhouse === undefined)
  );
}
