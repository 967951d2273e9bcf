import { openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { createLogger } from '@weir/runtime/logger';
import { buildSlots, fillTraffic, type TrafficTask, untilMerged } from '../reports/fill-traffic.ts';

export interface FillTask extends TrafficTask {
  /** The data folder of a Weir that has never run. */
  readonly folder: string;
  readonly clickhouseEntry: string;
  readonly migrationsDir: string;
}

const note = (text: string): void => console.error(`bench: dashboard: ${text}`);

/** Fills the tables in a data folder with generated traffic, before Weir uses the folder. Returns the number of rows. */
async function main({ folder, clickhouseEntry, migrationsDir, ...traffic }: FillTask): Promise<number> {
  const engine = await startEmbeddedClickhouse({
    dataDir: folder,
    entry: clickhouseEntry,
    logger: createLogger('error'),
  });
  await engine.ready();
  const { url, username, password } = engine;
  const analytics = openClickhouseAnalytics({ url, username, password, migrationsDir });
  await analytics.migrate();
  const rows = await fillTraffic(analytics, traffic, note);
  await untilMerged(analytics);
  note(`built ${await buildSlots(analytics, traffic.endMs)} slots`);
  await untilMerged(analytics);
  await analytics.close();
  await engine.close();
  return rows;
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as FillTask)));
