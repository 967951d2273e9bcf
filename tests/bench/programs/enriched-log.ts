import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { GROUP_ENRICHER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { startEnricher } from '@weir/enricher/enricher';
import { type Geo, openGeo } from '@weir/enricher/geo/open-geo';
import { createEnrichment } from '@weir/enricher/pipeline/pipeline';
import type { Analytics } from '@weir/ports/analytics';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { assertStored } from './assert-stored.ts';
import { caughtUp, type Engines, openEngines } from './bench-engines.ts';
import type { Traffic } from './bench-traffic.ts';

const TICK_MICROS = 10_000;
const READ_BYTES_MAX = 4 * 1024 * 1024;

export interface LogOfTraffic {
  readonly traffic: Traffic;
  readonly rows: number;
  readonly partitions: number;
}

/** Opens engines, and fills `events.raw` with `rows` records: the traffic, repeated as often as necessary. */
export async function fillRawLog(folder: string, { traffic, rows, partitions }: LogOfTraffic): Promise<Engines> {
  const engines = await openEngines(folder, partitions);
  const { eventLog, registry } = engines;
  let appended = 0;
  for (let copy = 0; appended < rows; copy++) {
    const records = (await traffic.rawRecords(`${folder}-${copy}`, registry)).slice(0, rows - appended);
    const outcomes = await eventLog.append(
      TOPIC_RAW,
      records.map(({ value }, index) => ({ partition: (appended + index) % partitions, value })),
    );
    assertStored(outcomes);
    appended += records.length;
  }
  return engines;
}

export async function enrichAll({ eventLog, stateStore, registry }: Engines, geo: Geo): Promise<void> {
  const enrichment = createEnrichment({ registry, geo, logId: eventLog.logId });
  const deps = { eventLog, stateStore, registry, enrichment, clock: Date.now, metrics: createMetrics() };
  const enricher = await startEnricher({ ...deps, logger: createLogger('error') });
  await caughtUp(eventLog, TOPIC_RAW, GROUP_ENRICHER, 10);
  await enricher.close();
}

/** Opens engines, and fills `events.enriched` with `rows` records: the enriched traffic, repeated as often as necessary. */
export async function fillEnrichedLog(folder: string, log: LogOfTraffic): Promise<Engines> {
  const engines = await fillRawLog(folder, log);
  const geo = await openGeo({});
  await enrichAll(engines, geo);
  geo.close();
  return engines;
}

/**
 * The enriched rows, divided into blocks of the same size as the writer's batches. The blocks are in files, or in memory (`inMemory`) if they
 * fit.
 */
export interface DirectBlocks {
  readonly count: number;
  readonly bytes: number;
  read(nth: number): Buffer;
}

export async function writeDirectBlocks({ eventLog }: Engines, folder: string, rowsMax: number): Promise<DirectBlocks> {
  const fileOf = (nth: number): string => join(folder, `block-${nth}.jsonl`);
  const ends = (await eventLog.positions(TOPIC_ENRICHED, 'bench')).map(({ end }) => end);
  let count = 0;
  let bytes = 0;
  const open = ends.map((): Uint8Array[] => []);
  const next = ends.map(() => 0);
  const close = (partition: number): void => {
    const block = Buffer.concat(open[partition] ?? []);
    open[partition] = [];
    if (block.length === 0) return;
    bytes += block.length;
    writeFileSync(fileOf(count++), block);
  };
  while (next.some((offset, partition) => offset < (ends[partition] ?? 0))) {
    for (const [partition, end] of ends.entries()) {
      const from = next[partition] ?? 0;
      if (from >= end) continue;
      const records = await eventLog.read(TOPIC_ENRICHED, partition, from, READ_BYTES_MAX);
      for (const { value } of records) {
        const lines = open[partition] ?? [];
        lines.push(Buffer.from(value));
        if (lines.length === rowsMax) close(partition);
      }
      next[partition] = (records.at(-1)?.offset ?? end) + 1;
    }
  }
  for (const partition of ends.keys()) close(partition);
  return { count, bytes, read: (nth) => readFileSync(fileOf(nth)) };
}

/** Reads all blocks into memory, so that the measured inserts do not include reading files. */
export function inMemory({ count, bytes, read }: DirectBlocks): DirectBlocks {
  const blocks = Array.from({ length: count }, (_, nth) => read(nth));
  return { count, bytes, read: (nth) => blocks[nth] ?? Buffer.alloc(0) };
}

/** Inserts each block once, with its own deduplication token. At most `atOnce` inserts run at the same time. */
export async function insertDirectly(
  blocks: DirectBlocks,
  { name, analytics, atOnce }: { readonly name: string; readonly analytics: Analytics; readonly atOnce: number },
): Promise<void> {
  let next = 0;
  const insert = async (): Promise<void> => {
    for (let nth = next++; nth < blocks.count; nth = next++) {
      await analytics.insertRecords({
        columns: RECORDS_COLUMNS,
        lines: [blocks.read(nth)],
        token: `bench:${name}:${nth}`,
        generation: undefined,
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, insert));
}

/** Waits until the merges after earlier inserts are finished, because they would slow down the next measurement. */
export async function untilMerged(analytics: Analytics): Promise<void> {
  for (let quiet = 0; quiet < 3; ) {
    const [row] = await analytics.select<{ merges: string | number }>('SELECT count() AS merges FROM system.merges');
    quiet = Number(row?.merges) === 0 ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The user and system time of a process in microseconds, from /proc. 0 on systems other than Linux. */
export function cpuMicrosOfProcess(pid: number): number {
  if (process.platform !== 'linux') return 0;
  return cpuMicrosIn(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** The user and system time of a process or thread in microseconds, from the text of its file `stat` in /proc. */
export function cpuMicrosIn(stat: string): number {
  // The name of the process or thread is in brackets, and can contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
}

/** The anonymous memory of a process in MiB, from /proc. It excludes the memory-mapped files of the log. 0 on systems other than Linux. */
export function anonymousMebibytes(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^RssAnon:\s+(\d+) kB$/m);
  return Number(line?.[1] ?? 0) / 1024;
}
