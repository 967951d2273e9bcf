import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  HEADER_COLUMNS_VERSION,
  HEADER_RAW_OFFSET,
  HEADER_RECEIVED_AT,
  RECORDS_COLUMNS_VERSION,
} from '@weir/domain/records/records-columns';
import { GROUP_ENRICHER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { BATCH_RECORDS_MAX, startEnricher } from '@weir/enricher/enricher';
import { openGeo } from '@weir/enricher/geo/open-geo';
import { createBatchOverlay } from '@weir/enricher/pipeline/batch-overlay';
import { distinct, readSalts } from '@weir/enricher/pipeline/enrich-batch';
import type { Enrichment } from '@weir/enricher/pipeline/enrichment';
import { createEnrichment } from '@weir/enricher/pipeline/pipeline';
import type { StoredRecord } from '@weir/ports/event-log';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { ratiosByRound } from '../report/spread.ts';
import { type Comparison, repeatUntilSteady } from '../report/steady-rounds.ts';
import { assertStored } from './assert-stored.ts';
import { caughtUp, cpuMicrosOf, type Engines, openEngines } from './bench-engines.ts';
import { asStored, readTraffic } from './bench-traffic.ts';

/**
 * How often each round repeats the baseline and the enrichment. V8 discards optimised code in the collection of garbage before them, so the
 * first passes are slower. The number is the same for all, because their ratios are compared.
 */
const PASSES = 10;

export interface EnrichTask {
  readonly folder: string;
  /** The maximum number of rounds. */
  readonly rounds: number;
  readonly partitions: number;
  /** How many times the records of the access log are processed in each round. */
  readonly copies: number;
}

export interface EnrichFigures {
  readonly origin: 'real' | 'generated';
  readonly records: number;
  readonly loopRecords: number;
  /** CPU microseconds per record of the baseline (`parseAndWrite`). This list and the next four have one number for each round. */
  readonly bare: readonly number[];
  /** The enrichment steps, with caches that earlier passes have filled. */
  readonly warm: readonly number[];
  /** The enrichment steps, with empty caches. */
  readonly newCaches: readonly number[];
  /** The enricher's whole consumer loop, including the event log and the state store. */
  readonly loop: readonly number[];
  /** The same work with the fewest steps: see `enrichWithFewestSteps`. */
  readonly floor: readonly number[];
  /** CPU microseconds per record of the first pass in this process. */
  readonly firstPass: number;
  /** `warm`, `newCaches`, `loop` and `floor`, compared with `bare`. */
  readonly comparisons: readonly Comparison[];
}

async function main({ folder, rounds, partitions, copies }: EnrichTask): Promise<EnrichFigures> {
  const traffic = readTraffic();
  const engines = await openEngines(join(folder, 'pure'), partitions);
  const geo = await openGeo({});
  const logId = engines.eventLog.logId;
  const create = () => createEnrichment({ registry: engines.registry, geo, logId });
  const records = asStored(await traffic.rawRecords('pure', engines.registry));
  const salts = await saltsOf(create(), records, engines);
  const state = new Map<string, string | undefined>();
  const pass = (enrichment: ReturnType<typeof create>) => enrichAll(enrichment, records, salts, state);

  const kept = create();
  let lines: readonly Uint8Array[] = [];
  const firstPass = await cpuMicrosOf(() => {
    lines = pass(kept);
  });
  const rows = lines.map((line) => JSON.parse(Buffer.from(line).toString()) as unknown[]);
  for (let i = 0; i < 10; i++) pass(kept);

  const figures = {
    bare: [] as number[],
    warm: [] as number[],
    newCaches: [] as number[],
    loop: [] as number[],
    floor: [] as number[],
  };
  let loopRecords = 0;
  const comparisons = (): readonly Comparison[] => [
    { name: 'the enrichment, with filled caches', ratios: ratiosByRound(figures.warm, figures.bare) },
    { name: 'the enrichment, with empty caches', ratios: ratiosByRound(figures.newCaches, figures.bare) },
    { name: 'the enricher', ratios: ratiosByRound(figures.loop, figures.bare) },
    { name: 'the enricher with the fewest steps', ratios: ratiosByRound(figures.floor, figures.bare) },
  ];
  // One round that is not counted.
  await runRound(-1);
  await repeatUntilSteady({
    roundsMax: rounds,
    async measure(round) {
      await runRound(round);
      return `${Object.values(figures)
        .map((micros) => micros.at(-1)?.toFixed(1))
        .join(', ')} µs per record`;
    },
    comparisons,
    note: (text) => console.error(`bench: enrich: ${text}`),
  });
  await engines.close();
  geo.close();
  return {
    origin: traffic.origin,
    records: records.length,
    loopRecords,
    ...figures,
    firstPass: firstPass / records.length,
    comparisons: comparisons(),
  };

  async function runRound(round: number): Promise<void> {
    const bare = await perRecord(PASSES, () => parseAndWrite(records, rows));
    const warm = await perRecord(PASSES, () => pass(kept));
    const fresh = Array.from({ length: PASSES }, create);
    const newCaches = await perRecord(fresh.length, (nth) => pass(fresh[nth] ?? create()));
    const loop = await runOnLog(join(folder, `loop-${round}`), runEnricher);
    const floor = await runOnLog(join(folder, `floor-${round}`), enrichWithFewestSteps);
    loopRecords = loop.records;
    if (round < 0) return;
    figures.bare.push(bare);
    figures.warm.push(warm);
    figures.newCaches.push(newCaches);
    figures.loop.push(loop.micros / loop.records);
    figures.floor.push(floor.micros / floor.records);
  }

  async function perRecord(passes: number, work: (nth: number) => unknown): Promise<number> {
    gc();
    const micros = await cpuMicrosOf(() => {
      for (let i = 0; i < passes; i++) work(i);
    });
    return micros / (passes * records.length);
  }

  /** Measures `work` on a log in a new folder, with empty caches. */
  async function runOnLog(
    logFolder: string,
    work: (engines: Engines, enrichment: ReturnType<typeof create>) => Promise<void>,
  ): Promise<{ records: number; micros: number }> {
    const own = await openEngines(logFolder, partitions);
    let appended = 0;
    for (let copy = 0; copy < copies; copy++) {
      const raw = await traffic.rawRecords(`${logFolder}-${copy}`, own.registry);
      appended += raw.length;
      assertStored(await own.eventLog.append(TOPIC_RAW, raw));
    }
    const { eventLog, registry } = own;
    const enrichment = createEnrichment({ registry, geo, logId: eventLog.logId });
    gc();
    const micros = await cpuMicrosOf(() => work(own, enrichment));
    await own.close();
    rmSync(logFolder, { recursive: true });
    return { records: appended, micros };
  }
}

async function runEnricher<Decoded>(engines: Engines, enrichment: Enrichment<Decoded>): Promise<void> {
  const deps = { ...engines, enrichment, clock: Date.now, logger: createLogger('error'), metrics: createMetrics() };
  const enricher = await startEnricher(deps);
  await caughtUp(engines.eventLog, TOPIC_RAW, GROUP_ENRICHER, 10);
  await enricher.close();
}

/**
 * What any enricher with this event log and these steps must do: read, enrich, append durably, commit. The state is in memory and is lost at the end.
 * A batch that fails, or that is appended twice, is not noticed.
 */
async function enrichWithFewestSteps<Decoded>(engines: Engines, enrichment: Enrichment<Decoded>): Promise<void> {
  const { eventLog } = engines;
  const subscription = await eventLog.consume({
    topic: TOPIC_RAW,
    group: GROUP_ENRICHER,
    batchRecordsMax: BATCH_RECORDS_MAX,
    async open({ partition, commit }) {
      const state = new Map<string, string | undefined>();
      return {
        async handle(records) {
          const decoded = records.map((record) => enrichment.decode(record, partition));
          const salts = await readSalts(
            engines.registry,
            distinct(decoded, (record) => enrichment.saltDays(record)),
          );
          const rows = enrichBatch(enrichment, decoded, salts, state);
          const outcomes = rows.map((value, nth) => ({ partition, value, headers: headersOf(records[nth]) }));
          assertStored(await eventLog.append(TOPIC_ENRICHED, outcomes));
          await commit({ offset: (records.at(-1)?.offset ?? -1) + 1, metadata: '' });
        },
        close: async () => undefined,
      };
    },
    onError(error) {
      throw error;
    },
  });
  await caughtUp(eventLog, TOPIC_RAW, GROUP_ENRICHER, 10);
  await subscription.close();
}

const headersOf = (record: StoredRecord | undefined): Readonly<Record<string, string>> => ({
  [HEADER_RAW_OFFSET]: String(record?.offset),
  [HEADER_COLUMNS_VERSION]: String(RECORDS_COLUMNS_VERSION),
  [HEADER_RECEIVED_AT]: String(record?.appendedAt),
});

/** Enriches all records in batches, like the consumer loop, but with the state in memory. */
function enrichAll<Decoded>(
  enrichment: Enrichment<Decoded>,
  records: readonly StoredRecord[],
  salts: ReadonlyMap<string, string>,
  state: Map<string, string | undefined>,
): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let at = 0; at < records.length; at += BATCH_RECORDS_MAX) {
    const decoded = records.slice(at, at + BATCH_RECORDS_MAX).map((record) => enrichment.decode(record, 0));
    for (const row of enrichBatch(enrichment, decoded, salts, state)) lines.push(row);
  }
  return lines;
}

function enrichBatch<Decoded>(
  enrichment: Enrichment<Decoded>,
  decoded: readonly Decoded[],
  salts: ReadonlyMap<string, string>,
  state: Map<string, string | undefined>,
): Uint8Array[] {
  const keys = [...distinct(decoded, (record) => enrichment.prepare(record, salts))];
  const overlay = createBatchOverlay(
    keys,
    keys.map((key) => state.get(key)),
  );
  const rows = decoded.map((record) => enrichment.enrich(record, { state: overlay, firstSeen: undefined }).row);
  for (const { key, value } of overlay.changes()) state.set(key, value);
  return rows;
}

/** The baseline for the comparison: parses the same bytes and writes the same rows as JSON, with no other work. */
function parseAndWrite(records: readonly StoredRecord[], rows: readonly unknown[]): number {
  let bytes = 0;
  records.forEach(({ value }, i) => {
    JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString());
    bytes += Buffer.from(`${JSON.stringify(rows[i])}\n`).length;
  });
  return bytes;
}

async function saltsOf<Decoded>(
  enrichment: Enrichment<Decoded>,
  records: readonly StoredRecord[],
  { registry }: Engines,
): Promise<ReadonlyMap<string, string>> {
  return readSalts(
    registry,
    distinct(records, (record) => enrichment.saltDays(enrichment.decode(record, 0))),
  );
}

/** Collects garbage, so that it does not slow down the next measurement. */
function gc(): void {
  (globalThis as { gc?: () => void }).gc?.();
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as EnrichTask)));
