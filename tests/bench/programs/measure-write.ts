import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { startEnricher } from '@weir/enricher/enricher';
import { openGeo } from '@weir/enricher/geo/open-geo';
import { createEnrichment } from '@weir/enricher/pipeline/pipeline';
import type { Analytics } from '@weir/ports/analytics';
import type { AppendRecord } from '@weir/ports/event-log';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { startWriter } from '@weir/writer/writer';
import { caughtUp, type Engines, openEngines } from './bench-engines.ts';
import { readTraffic } from './bench-traffic.ts';

export interface WriteTask {
  readonly folder: string;
  readonly rounds: number;
  readonly partitions: number;
  /** The number of rows in each partition in one round. */
  readonly rowsPerPartition: number;
  readonly rowsMax: number;
  readonly bytesMax: number;
  readonly lingerMs: number;
  readonly insertsAtOnce: number;
  /** The path of `dist/clickhouse-server.js`, or of a copy. */
  readonly clickhouseEntry: string;
  readonly migrationsDir: string;
}

/** The lists have one number for each round. */
export interface WriteFigures {
  readonly origin: 'real' | 'generated';
  readonly rows: number;
  readonly bytes: number;
  readonly writer: Arm;
  readonly direct: Arm;
}

export interface Arm {
  readonly seconds: number[];
  /** CPU microseconds per row: of this process, and of the ClickHouse process. */
  readonly own: number[];
  readonly engine: number[];
  readonly inserts: number[];
}

const TICK_MICROS = 10_000;
const logger = createLogger('error');

async function main(task: WriteTask): Promise<WriteFigures> {
  const { folder, rounds, partitions, rowsPerPartition } = task;
  const traffic = readTraffic();
  const clickhouse = await startEmbeddedClickhouse({ dataDir: folder, entry: task.clickhouseEntry, logger });
  await clickhouse.ready();
  const { url, username, password, pid } = clickhouse;
  const analytics = openClickhouseAnalytics({ url, username, password, migrationsDir: task.migrationsDir });
  await analytics.migrate();
  let inserts = 0;
  const counted: Analytics = {
    ...analytics,
    insertRecords(batch) {
      inserts++;
      return analytics.insertRecords(batch);
    },
  };

  const writer: Arm = { seconds: [], own: [], engine: [], inserts: [] };
  const direct: Arm = { seconds: [], own: [], engine: [], inserts: [] };
  const rows = partitions * rowsPerPartition;
  let bytes = 0;
  for (let round = -1; round < rounds; round++) {
    const engines = await filledLog(join(folder, `log-${round}-writer`));
    const source = await filledLog(join(folder, `log-${round}-direct`));
    const blocks = await directBlocks(source, task);
    await source.close();
    bytes = blocks.reduce((sum, block) => sum + block.length, 0);
    const arms = [
      () => measured(round < 0 ? undefined : writer, () => runWriter(engines, counted, task)),
      () => measured(round < 0 ? undefined : direct, () => insertDirectly(blocks, round, counted, task)),
    ];
    // The order alternates, because inserts become slower as the tables grow.
    for (const arm of round % 2 === 0 ? arms : arms.reverse()) await arm();
    await engines.close();
  }
  await analytics.close();
  await clickhouse.close();
  return { origin: traffic.origin, rows, bytes, writer, direct };

  async function measured(arm: Arm | undefined, work: () => Promise<void>): Promise<void> {
    (globalThis as { gc?: () => void }).gc?.();
    await untilMerged(analytics);
    inserts = 0;
    const engineBefore = ticksOf(pid() ?? 0);
    const ownBefore = process.cpuUsage();
    const startedAt = performance.now();
    await work();
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(ownBefore);
    arm?.seconds.push(seconds);
    arm?.inserts.push(inserts);
    arm?.own.push((user + system) / rows);
    arm?.engine.push(((ticksOf(pid() ?? 0) - engineBefore) * TICK_MICROS) / rows);
  }

  /** A log whose enriched topic has the enriched records of the traffic. */
  async function filledLog(logFolder: string): Promise<Engines> {
    const engines = await openEngines(logFolder, partitions);
    const { eventLog, stateStore, registry } = engines;
    const raw: AppendRecord[] = [];
    for (let copy = 0; raw.length < rows; copy++) {
      for (const { value } of await traffic.rawRecords(`${logFolder}-${copy}`, registry)) {
        if (raw.length < rows) raw.push({ partition: raw.length % partitions, value });
      }
    }
    await eventLog.append(TOPIC_RAW, raw);
    const geo = await openGeo({});
    const enrichment = createEnrichment({ registry, geo, logId: eventLog.logId, clock: Date.now });
    const deps = { eventLog, stateStore, registry, enrichment, clock: Date.now, logger, metrics: createMetrics() };
    const enricher = await startEnricher(deps);
    await caughtUp(eventLog, TOPIC_RAW, GROUP_ENRICHER, 10);
    await enricher.close();
    geo.close();
    return engines;
  }
}

async function runWriter({ eventLog }: Engines, analytics: Analytics, task: WriteTask): Promise<void> {
  const { rowsMax, bytesMax, lingerMs, insertsAtOnce: insertsMax } = task;
  const limits = { rowsMax, bytesMax, lingerMs, insertsMax };
  const writer = await startWriter({
    eventLog,
    analytics,
    clock: Date.now,
    logger,
    metrics: createMetrics(),
    limits,
    pauses: undefined,
  });
  await caughtUp(eventLog, TOPIC_ENRICHED, GROUP_WRITER, 5);
  await writer.close();
}

/** The enriched rows, joined into blocks with as many rows as the writer's batches. */
async function directBlocks({ eventLog }: Engines, { partitions, rowsMax }: WriteTask): Promise<readonly Buffer[]> {
  const lines: Uint8Array[][] = Array.from({ length: partitions }, () => []);
  const subscription = await eventLog.consume({
    topic: TOPIC_ENRICHED,
    group: 'bench',
    open: async (handle) => ({
      async handle(records) {
        for (const { value } of records) lines[handle.partition]?.push(value);
        await handle.commit({ offset: (records.at(-1)?.offset ?? -1) + 1, metadata: '' });
      },
      async close() {},
    }),
    onError(error) {
      throw error;
    },
  });
  await caughtUp(eventLog, TOPIC_ENRICHED, 'bench', 5);
  await subscription.close();
  const blocks: Buffer[] = [];
  const longest = Math.max(...lines.map((own) => own.length));
  for (let from = 0; from < longest; from += rowsMax) {
    for (const own of lines) {
      if (from < own.length) blocks.push(Buffer.concat(own.slice(from, from + rowsMax)));
    }
  }
  return blocks;
}

async function insertDirectly(
  blocks: readonly Buffer[],
  round: number,
  analytics: Analytics,
  { insertsAtOnce }: WriteTask,
): Promise<void> {
  let next = 0;
  const insert = async (): Promise<void> => {
    for (let block = blocks[next++]; block !== undefined; block = blocks[next++]) {
      await analytics.insertRecords({
        columns: RECORDS_COLUMNS,
        lines: [block],
        token: `bench:${round}:${next}`,
        generation: undefined,
      });
    }
  };
  await Promise.all(Array.from({ length: insertsAtOnce }, insert));
}

/** Waits for merges of earlier inserts, so that they do not slow down the next measurement. */
async function untilMerged(analytics: Analytics): Promise<void> {
  for (let quiet = 0; quiet < 3; ) {
    const [row] = await analytics.select<{ merges: string | number }>('SELECT count() AS merges FROM system.merges');
    quiet = Number(row?.merges) === 0 ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The user and system time of a process, from /proc. On systems without /proc: 0. */
function ticksOf(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as WriteTask)));
