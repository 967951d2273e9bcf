import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { openClickhouseShadow } from '@weir/adapters/clickhouse/clickhouse-shadow';
import { startReplayer } from '@weir/control/replay/replayer';
import { GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { ReplayPhase } from '@weir/domain/registry/replay';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { openGeo } from '@weir/enricher/geo/open-geo';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { startWriter } from '@weir/writer/writer';
import { caughtUp, type Engines } from './bench-engines.ts';
import { readTraffic } from './bench-traffic.ts';
import {
  anonymousMebibytes,
  cpuMicrosOfProcess,
  enrichAll,
  fillEnrichedLog,
  fillRawLog,
  insertDirectly,
  untilMerged,
  writeDirectBlocks,
} from './enriched-log.ts';
import { rawReplays } from './raw-replays.ts';

export interface ReplayTask {
  readonly folder: string;
  readonly rounds: number;
  /** Runs only one replay from `events.enriched` and one from `events.raw`, without the measurements for comparison. */
  readonly memoryOnly: boolean;
  readonly rows: number;
  readonly partitions: number;
  readonly rowsMax: number;
  readonly bytesMax: number;
  readonly lingerMs: number;
  readonly insertsAtOnce: number;
  readonly clickhouseEntry: string;
  readonly migrationsDir: string;
}

/** The results of a run. The lists of each `ReplayArm` have one number for each round. */
export interface ReplayFigures {
  readonly origin: 'real' | 'generated';
  readonly bytes: number;
  readonly replay: ReplayArm;
  readonly direct: ReplayArm;
  readonly raw: ReplayArm;
  /** The enricher alone, with the same raw records in a new log. */
  readonly enricher: ReplayArm;
  /** The enricher and the writer at the same time, with the same raw records in a new log. Like the replay, they fill new tables. */
  readonly live: ReplayArm;
  /** The highest anonymous memory in each quarter of the last replay from `events.enriched`. */
  readonly quarters: readonly Memory[];
  /** The highest anonymous memory in each quarter of the last replay from `events.raw`. */
  readonly rawQuarters: readonly Memory[];
}

/** Anonymous memory in MiB: of this process, and of ClickHouse. */
export interface Memory {
  readonly own: number;
  readonly engine: number;
}

export interface ReplayArm {
  readonly seconds: number[];
  /** The CPU time of this process, in microseconds per row. */
  readonly own: number[];
  /** The CPU time of the ClickHouse process, in microseconds per row. */
  readonly engine: number[];
}

const logger = createLogger('error');
const SAMPLE_MS = 500;
const POLL_MS = 20;
const QUARTERS = 4;
const RETENTION_MS = 30 * 24 * 3_600_000;

async function main(task: ReplayTask): Promise<ReplayFigures> {
  const { folder, rounds, rows, partitions, insertsAtOnce: insertsMax } = task;
  const traffic = readTraffic();
  const geo = await openGeo({});
  const clickhouse = await startEmbeddedClickhouse({ dataDir: folder, entry: task.clickhouseEntry, logger });
  await clickhouse.ready();
  const { url, username, password } = clickhouse;
  const enginePid = () => clickhouse.pid() ?? 0;
  const tables = { url, username, password, migrationsDir: task.migrationsDir };
  const analytics = openClickhouseAnalytics(tables);
  const shadow = openClickhouseShadow(tables, analytics);
  await analytics.migrate();

  const filling = { traffic, rows, partitions };
  const { eventLog, registry, ...engines } = await fillEnrichedLog(join(folder, 'log'), filling);
  const limits = { rowsMax: task.rowsMax, bytesMax: task.bytesMax, lingerMs: task.lingerMs, insertsMax };
  const shared = { clock: Date.now, logger, limits, pauses: undefined };
  const writer = await startWriter({ ...shared, eventLog, analytics, metrics: createMetrics() });
  await caughtUp(eventLog, TOPIC_ENRICHED, GROUP_WRITER, POLL_MS);
  await writer.close();
  const written = { eventLog, registry, ...engines };
  const blocks = task.memoryOnly ? undefined : await writeDirectBlocks(written, folder, task.rowsMax);

  const replayer = startReplayer({
    ...{ eventLog, registry, analytics, shadow, clock: Date.now, logger, retentionMs: RETENTION_MS },
    liveWriters: { nextSwap: noSwap, pause: noSwap, holds: () => false, resume: noSwap },
    startReplayWriter: ({ eventLog: log, analytics: target, ...replay }) =>
      startWriter({ ...shared, eventLog: log, analytics: target, metrics: createMetrics(), replay }),
    raw: rawReplays({ folder: join(folder, 'replay-state'), eventLog, registry, analytics, geo }),
  });

  /** Resolves when the replay has this phase. With `undefined`, resolves when there is no replay. */
  async function untilPhase(wanted: ReplayPhase | undefined): Promise<void> {
    while (registry.replay()?.state?.phase !== wanted || (wanted === undefined && registry.replay() !== undefined)) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async function replay(replayId: string, from: 'enriched' | 'raw'): Promise<void> {
    await registry.putReplayRequest({ replayId, from, startedAt: Date.now() });
    await untilPhase('follow');
  }

  async function dropReplay(replayId: string): Promise<void> {
    await registry.putReplayWish({ replayId, wish: 'drop', askedAt: Date.now() });
    await untilPhase(undefined);
  }

  async function measured(arm: ReplayArm, work: () => Promise<void>): Promise<Memory[]> {
    (globalThis as { gc?: () => void }).gc?.();
    await untilMerged(analytics);
    const samples: Memory[] = [];
    const sampler = setInterval(() => {
      samples.push({ own: anonymousMebibytes(process.pid), engine: anonymousMebibytes(enginePid()) });
    }, SAMPLE_MS);
    const engineBefore = cpuMicrosOfProcess(enginePid());
    const ownBefore = process.cpuUsage();
    const startedAt = performance.now();
    await work();
    const seconds = (performance.now() - startedAt) / 1000;
    clearInterval(sampler);
    const { user, system } = process.cpuUsage(ownBefore);
    arm.seconds.push(seconds);
    arm.own.push((user + system) / rows);
    arm.engine.push((cpuMicrosOfProcess(enginePid()) - engineBefore) / rows);
    return samples;
  }

  const figures = { replay: newArm(), direct: newArm(), raw: newArm(), enricher: newArm(), live: newArm() };
  let samples: Memory[] = [];
  let rawSamples: Memory[] = [];
  async function replayRound(round: number): Promise<void> {
    const replayId = `bench-${round}`;
    samples = await measured(figures.replay, () => replay(replayId, 'enriched'));
    await dropReplay(replayId);
  }
  async function rawRound(round: number): Promise<void> {
    const replayId = `bench-raw-${round}`;
    rawSamples = await measured(figures.raw, () => replay(replayId, 'raw'));
    await dropReplay(replayId);
  }
  async function directRound(round: number): Promise<void> {
    const inserting = { name: `${round}`, analytics: shadow.analytics, atOnce: insertsMax };
    await measured(figures.direct, async () => {
      await shadow.create();
      if (blocks !== undefined) await insertDirectly(blocks, inserting);
    });
    await shadow.drop();
  }
  async function withRawLog(name: string, work: (own: Engines) => Promise<void>): Promise<void> {
    const own = join(folder, name);
    const raw = await fillRawLog(own, filling);
    await work(raw);
    await raw.close();
    await rm(own, { recursive: true });
  }
  const enricherRound = (round: number) =>
    withRawLog(`enricher-${round}`, async (raw) => {
      await measured(figures.enricher, () => enrichAll(raw, geo));
    });
  const liveRound = (round: number) =>
    withRawLog(`live-${round}`, async (raw) => {
      await measured(figures.live, async () => {
        await shadow.create();
        const writing = { ...shared, eventLog: raw.eventLog, analytics: shadow.analytics, metrics: createMetrics() };
        const liveWriter = await startWriter(writing);
        await enrichAll(raw, geo);
        await caughtUp(raw.eventLog, TOPIC_ENRICHED, GROUP_WRITER, POLL_MS);
        await liveWriter.close();
      });
      await shadow.drop();
    });
  for (let round = 0; round < rounds; round++) {
    const compared = [directRound, rawRound, enricherRound, liveRound];
    const arms = task.memoryOnly ? [replayRound, rawRound] : [replayRound, ...compared];
    for (const arm of round % 2 === 0 ? arms : arms.reverse()) await arm(round);
  }
  await replayer.close();
  await registry.close();
  await engines.close();
  await shadow.close();
  await analytics.close();
  await clickhouse.close();
  geo.close();
  const memory = { quarters: quartersOf(samples), rawQuarters: quartersOf(rawSamples) };
  return { origin: traffic.origin, bytes: blocks?.bytes ?? 0, ...figures, ...memory };
}

function quartersOf(samples: readonly Memory[]): readonly Memory[] {
  const length = Math.ceil(samples.length / QUARTERS);
  return Array.from({ length: QUARTERS }, (_, nth) => {
    const own = samples.slice(nth * length, (nth + 1) * length);
    return { own: Math.max(0, ...own.map((one) => one.own)), engine: Math.max(0, ...own.map((one) => one.engine)) };
  });
}

function newArm(): ReplayArm {
  return { seconds: [], own: [], engine: [] };
}

/** Replaces the functions that pause and resume the writers for a swap (docs/glossary.md). This benchmark never exchanges tables. */
async function noSwap(): Promise<never> {
  throw new Error('a bench of replay does not swap');
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as ReplayTask)));
