import { setTimeout as pause } from 'node:timers/promises';
import { type ClickhouseAnalytics, openClickhouseAnalytics } from '@weir/adapters/clickhouse-analytics';
import { isDependencyError } from '@weir/domain/errors';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import type { Analytics } from '@weir/ports/analytics';
import type { Config } from '@weir/runtime/config';
import type { Logger } from '@weir/runtime/logger';
import type { ProjectFiles } from './project-files.ts';
import type { Stack } from './stack.ts';
import { unlessStopped } from './unless-stopped.ts';

const RETRY_EVERY_MS = 500;

/** The analytics store, which may take a while to be there, or go away and come back. */
export interface OpenAnalytics {
  readonly analytics: ClickhouseAnalytics;
  /** Resolves when it answers and its tables are up to date; rejects when they never will be. */
  readonly ready: Promise<void>;
}

export interface OpenAnalyticsDeps {
  readonly config: Config;
  readonly files: ProjectFiles;
  readonly logger: Logger;
  readonly stack: Stack;
  /** Ends the waiting: `ready` rejects with its reason. */
  readonly stop: AbortSignal;
}

export async function openAnalytics(deps: OpenAnalyticsDeps): Promise<OpenAnalytics> {
  const { config, files, logger, stack, stop } = deps;
  const { clickhouse } = config.engines;
  const { migrationsDir } = files;
  if (clickhouse !== undefined) {
    const { writer, reader, database, cluster } = clickhouse;
    const analytics = openClickhouseAnalytics({ ...writer, reader, database, cluster, migrationsDir });
    stack.add(analytics, (opened) => opened.close());
    return {
      analytics,
      ready: heardLater(
        unlessStopped(
          migrateWhenThere(analytics, async () => undefined, logger, stop),
          stop,
        ),
      ),
    };
  }
  const engine = await startEmbeddedClickhouse({ dataDir: config.dataDir, entry: files.clickhouseServer, logger });
  stack.add(engine, (started) => started.close());
  const { url, username, password } = engine;
  const analytics = openClickhouseAnalytics({ url, username, password, migrationsDir });
  stack.add(analytics, (opened) => opened.close());
  const migrated = migrateWhenThere(analytics, () => engine.ready(), logger, stop);
  return { analytics, ready: heardLater(unlessStopped(migrated, stop)) };
}

/** Awaited by the roles that need it; a start that fails before it comes to them must not end the process unheard. */
function heardLater(ready: Promise<void>): Promise<void> {
  ready.catch(() => undefined);
  return ready;
}

/**
 * A server that is away now, or a child that died after it was ready, is waited for; one that refuses the migrations needs a
 * person, and so does a `there` that rejects.
 */
async function migrateWhenThere(
  analytics: Analytics,
  there: () => Promise<void>,
  logger: Logger,
  stop: AbortSignal,
): Promise<void> {
  let said = false;
  for (;;) {
    await there();
    try {
      return await analytics.migrate();
    } catch (error) {
      if (!isDependencyError(error, 'analytics_unavailable')) throw error;
      if (!said) logger.warn({ code: error.code }, 'waiting for ClickHouse');
      said = true;
      await pause(RETRY_EVERY_MS, undefined, { signal: stop });
    }
  }
}
