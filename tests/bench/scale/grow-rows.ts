import { setTimeout as pause } from 'node:timers/promises';
import { sendLoad } from '../load/http-load.ts';
import { measureRecovery, type Recovery } from './kill-recovery.ts';
import { BATCH_EVENTS, batchesFrom, EVENTS_PER_VISITOR } from './scale-events.ts';
import type { Memory, ScaleWeir, Sizes } from './scale-weir.ts';
import { type PartsCpu, perEvent } from './thread-cpu.ts';

/** The events at the end of each fill whose CPU time is measured. */
export const TAIL_EVENTS = 200_000;
/** After so many events, the fill waits until the writer has inserted all but `BACKLOG_MAX` of them. */
const STEP_EVENTS = 100_000;
const BACKLOG_MAX = 100_000;
const CONNECTIONS = 8;
export const REST_MS = 30_000;
/** ClickHouse keeps the parts that a merge has replaced for 60 s, and removes them 10 to 30 s later (packages/embedded-clickhouse). */
export const OLD_PARTS_MS = 95_000;

const POLL_MS = 5_000;
const SETTLED_MS = 30_000;
const SETTLE_MS_MAX = 300_000;

/** The figures at a number of rows. */
export interface RowsFigures {
  readonly rows: number;
  readonly visitors: number;
  readonly eventsPerSecond: number;
  /** The CPU time of each of the last events, until all are inserted. */
  readonly tail: PartsCpu;
  /** The CPU time of each event since the number of rows before, with the merges of that time. */
  readonly fill: PartsCpu;
  /** The highest memory at the end of a step, and the memory after a rest of 30 s. */
  readonly memoryMax: Memory;
  readonly memory: Memory;
  readonly recovery: Recovery;
  /** A clean restart: from the signal to the end of the process, and from the start of the new one until it is ready. */
  readonly stopSeconds: number;
  readonly startSeconds: number;
  readonly sizes: Sizes;
}

const sumOf = ({ main, clickhouse }: Memory): number => main + clickhouse;

/** Sends the next events in batches, as fast as Weir accepts them. */
export async function sendBatches(weir: ScaleWeir, batches: number): Promise<void> {
  const make = batchesFrom(weir.key, weir.acknowledged, BATCH_EVENTS);
  await sendLoad({ port: weir.port, connections: CONNECTIONS, requests: batches, status: 200, make });
  weir.acknowledged += batches * BATCH_EVENTS;
}

/** Resolves when the size of ClickHouse has not changed for 30 s, or after 5 minutes. */
async function settledSizes(weir: ScaleWeir): Promise<Sizes> {
  let sizes = weir.sizes();
  let sameMs = 0;
  for (let waitedMs = 0; sameMs < SETTLED_MS && waitedMs < SETTLE_MS_MAX; waitedMs += POLL_MS) {
    await pause(POLL_MS);
    const now = weir.sizes();
    sameMs = now.clickhouse === sizes.clickhouse ? sameMs + POLL_MS : 0;
    sizes = now;
  }
  return sizes;
}

/** Sends events until Weir has `rows` rows, and measures. All acknowledged events are stored when it resolves. */
export async function growTo(weir: ScaleWeir, rows: number, note: (text: string) => void): Promise<RowsFigures> {
  let memoryMax = weir.memory();
  const fillUntil = async (wanted: number): Promise<void> => {
    while (weir.acknowledged < wanted) {
      const batches = Math.ceil(Math.min(STEP_EVENTS, wanted - weir.acknowledged) / BATCH_EVENTS);
      const inserted = await weir.consumed('writer');
      await sendBatches(weir, batches);
      await weir.untilConsumed('writer', inserted + batches * BATCH_EVENTS - BACKLOG_MAX);
      const memory = weir.memory();
      if (sumOf(memory) > sumOf(memoryMax)) memoryMax = memory;
      if (weir.acknowledged % 1_000_000 < STEP_EVENTS)
        note(`${weir.acknowledged} events, ${sumOf(memory).toFixed(0)} MB`);
    }
  };
  const start = await weir.reading();
  const startedAt = performance.now();
  const startEvents = weir.acknowledged;
  await fillUntil(rows - TAIL_EVENTS);
  await weir.untilConsumed('writer', start.written + weir.acknowledged - startEvents);
  const before = await weir.reading();
  await fillUntil(rows);
  await weir.untilConsumed('writer', start.written + weir.acknowledged - startEvents);
  const after = await weir.reading();
  const eventsPerSecond = ((weir.acknowledged - startEvents) * 1000) / (performance.now() - startedAt);
  await weir.untilStored();
  await pause(REST_MS);
  const memory = weir.memory();
  note(`${rows} rows: ${eventsPerSecond.toFixed(0)} events/s, ${sumOf(memory).toFixed(0)} MB`);
  await pause(OLD_PARTS_MS - REST_MS);
  const sizes = await settledSizes(weir);
  note('kill -9 during load');
  const recovery = await measureRecovery(weir);
  note('clean restart');
  const stopsAt = performance.now();
  const code = await weir.process.terminate();
  if (code !== 0) throw new Error(`Weir ended with ${code} on SIGTERM`);
  const stopSeconds = (performance.now() - stopsAt) / 1000;
  const startSeconds = (await weir.process.restart()) / 1000;
  await weir.untilStored();
  return {
    ...{ rows, visitors: Math.ceil(rows / EVENTS_PER_VISITOR), eventsPerSecond, memoryMax, memory, recovery },
    ...{ tail: perEvent(before, after), fill: perEvent(start, after), stopSeconds, startSeconds, sizes },
  };
}
