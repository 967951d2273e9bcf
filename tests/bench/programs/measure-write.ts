import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import type { Analytics } from '@weir/ports/analytics';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { createSlots } from '@weir/runtime/task-slots';
import { startWriter } from '@weir/writer/writer';
import { ratiosByRound } from '../report/spread.ts';
import { type Comparison, repeatUntilSteady } from '../report/steady-rounds.ts';
import { caughtUp, type Engines } from './bench-engines.ts';
import { readTraffic } from './bench-traffic.ts';
import {
  cpuMicrosOfProcess,
  fillEnrichedLog,
  inMemory,
  insertDirectly,
  untilMerged,
  writeDirectBlocks,
} from './enriched-log.ts';

export interface WriteTask {
  readonly folder: string;
  /** The maximum number of rounds. */
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

/** The results of a run. The lists of each `Arm` have one number for each round. */
export interface WriteFigures {
  readonly origin: 'real' | 'generated';
  readonly rows: number;
  readonly bytes: number;
  readonly writer: Arm;
  readonly direct: Arm;
  /** Reads the log, inserts and commits: see `writeWithFewestSteps`. */
  readonly floor: Arm;
  /** The writer compared with the direct inserts: their time, and the CPU of this process and of ClickHouse together. */
  readonly time: Comparison;
  readonly cpu: Comparison;
  /** The CPU of `floor`, compared with the direct inserts. */
  readonly floorCpu: Comparison;
}

export interface Arm {
  readonly seconds: number[];
  /** CPU microseconds per row. `own`: of this process. `engine`: of the ClickHouse process. */
  readonly own: number[];
  readonly engine: number[];
  readonly inserts: number[];
}

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
  const floor: Arm = { seconds: [], own: [], engine: [], inserts: [] };
  const rows = partitions * rowsPerPartition;
  let bytes = 0;
  const cpuOf = ({ own, engine }: Arm): number[] => own.map((micros, round) => micros + (engine[round] ?? 0));
  const time = (): Comparison => ({ name: 'time', ratios: ratiosByRound(writer.seconds, direct.seconds) });
  const cpu = (): Comparison => ({ name: 'CPU', ratios: ratiosByRound(cpuOf(writer), cpuOf(direct)) });
  const floorCpu = (): Comparison => ({
    name: 'CPU of the fewest steps',
    ratios: ratiosByRound(cpuOf(floor), cpuOf(direct)),
  });
  // One round that is not counted.
  await runRound(-1);
  await repeatUntilSteady({
    roundsMax: rounds,
    async measure(round) {
      await runRound(round);
      const last = (arm: Arm): string => cpuOf(arm).at(-1)?.toFixed(1) ?? '';
      return `CPU ${last(writer)}, ${last(floor)} and ${last(direct)} µs per row`;
    },
    comparisons: () => [time(), cpu(), floorCpu()],
    note: (text) => console.error(`bench: write: ${text}`),
  });
  await analytics.close();
  await clickhouse.close();
  return { origin: traffic.origin, rows, bytes, writer, direct, floor, time: time(), cpu: cpu(), floorCpu: floorCpu() };

  async function runRound(round: number): Promise<void> {
    const filling = { traffic, rows, partitions };
    const folders = ['writer', 'direct', 'floor'].map((side) => join(folder, `log-${round}-${side}`));
    const [ownFolder = '', directFolder = '', floorFolder = ''] = folders;
    const engines = await fillEnrichedLog(ownFolder, filling);
    const others = await fillEnrichedLog(floorFolder, filling);
    const source = await fillEnrichedLog(directFolder, filling);
    const blocks = inMemory(await writeDirectBlocks(source, folder, task.rowsMax));
    await source.close();
    bytes = blocks.bytes;
    const inserting = { name: `${round}`, analytics: counted, atOnce: task.insertsAtOnce };
    const arms = [
      () => measured(round < 0 ? undefined : writer, () => runWriter(engines, counted, task)),
      () => measured(round < 0 ? undefined : direct, () => insertDirectly(blocks, inserting)),
      () => measured(round < 0 ? undefined : floor, () => writeWithFewestSteps(others, counted, task)),
    ];
    // The order changes, because inserts become slower as the tables grow.
    const first = Math.max(round, 0) % arms.length;
    for (const arm of [...arms.slice(first), ...arms.slice(0, first)]) await arm();
    await engines.close();
    await others.close();
    for (const used of folders) rmSync(used, { recursive: true });
  }

  async function measured(arm: Arm | undefined, work: () => Promise<void>): Promise<void> {
    (globalThis as { gc?: () => void }).gc?.();
    await untilMerged(analytics);
    inserts = 0;
    const engineBefore = cpuMicrosOfProcess(pid() ?? 0);
    const ownBefore = process.cpuUsage();
    const startedAt = performance.now();
    await work();
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(ownBefore);
    arm?.seconds.push(seconds);
    arm?.inserts.push(inserts);
    arm?.own.push((user + system) / rows);
    arm?.engine.push((cpuMicrosOfProcess(pid() ?? 0) - engineBefore) / rows);
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

/**
 * What any writer with this event log must do: read and decompress the rows, insert them in blocks of the same size, each with a token, and commit.
 * It has no plans, so a repeated insert can have other rows, and it does not look at the headers of the records.
 */
async function writeWithFewestSteps({ eventLog }: Engines, analytics: Analytics, task: WriteTask): Promise<void> {
  const slots = createSlots(task.insertsAtOnce);
  const subscription = await eventLog.consume({
    topic: TOPIC_ENRICHED,
    group: GROUP_WRITER,
    async open({ partition, commit }) {
      let lines: Uint8Array[] = [];
      return {
        async handle(records) {
          for (const { value, offset } of records) {
            if (lines.push(value) < task.rowsMax) continue;
            const block = lines;
            lines = [];
            const token = `fewest:${eventLog.logId}:${partition}:${offset}`;
            await slots(() =>
              analytics.insertRecords({ columns: RECORDS_COLUMNS, lines: block, token, generation: 0 }),
            );
            await commit({ offset: offset + 1, metadata: '' });
          }
        },
        close: async () => undefined,
      };
    },
    onError(error) {
      throw error;
    },
  });
  await caughtUp(eventLog, TOPIC_ENRICHED, GROUP_WRITER, 5);
  await subscription.close();
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as WriteTask)));
