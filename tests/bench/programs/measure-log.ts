import { closeSync, fdatasync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EventLog } from '@weir/ports/event-log';
import { assertStored } from './assert-stored.ts';
import { caughtUp, cpuMicrosOf, openEngines } from './bench-engines.ts';

export interface LogTask {
  readonly folder: string;
  readonly rounds: number;
  readonly valueBytes: number;
  readonly batches: readonly { readonly records: number; readonly atOnce: number; readonly total: number }[];
}

/** The lists have one number for each round. */
export interface LogFigures {
  readonly append: readonly AppendFigures[];
  readonly consume: Cost;
  readonly readFile: Cost;
}

interface AppendFigures {
  readonly log: Cost;
  readonly file: Cost;
}

export interface Cost {
  readonly micros: number[];
  readonly perSecond: number[];
}

const PARTITIONS = 4;
const sync = promisify(fdatasync);

async function main({ folder, rounds, valueBytes, batches }: LogTask): Promise<LogFigures> {
  const { eventLog, close } = await openEngines(folder, PARTITIONS);
  const path = join(folder, 'plain');
  const file = openSync(path, 'a');
  const value = Buffer.alloc(valueBytes, 'x');
  const append = batches.map(() => ({ log: newCost(), file: newCost() }));
  const consume = newCost();
  const readFile = newCost();

  for (let round = -1; round < rounds; round++) {
    const count = round >= 0;
    for (const [index, { records, atOnce, total }] of batches.entries()) {
      const figures = append[index];
      let nth = 0;
      const keyed = () => ({ key: `bench/v/${nth++ % 5000}`, value });
      await measured(count ? figures?.log : undefined, total, () =>
        atOnceUntil(atOnce, total / records, () =>
          eventLog.append('bench', Array.from({ length: records }, keyed)).then(assertStored),
        ),
      );
      const bytes = Buffer.alloc(valueBytes * records, 'x');
      // The file is written like LMDB: by a single writer, which writes concurrent appends together and syncs once.
      await measured(count ? figures?.file : undefined, total, async () => {
        for (let written = 0; written < total; written += records * atOnce) {
          for (let i = 0; i < atOnce; i++) writeSync(file, bytes);
          await sync(file);
        }
      });
    }
    const positions = await eventLog.positions('bench', 'bench');
    const all = positions.reduce((sum, { end, first }) => sum + end - first, 0);
    await measured(count ? consume : undefined, all, () => readAll(eventLog, `bench-${round}`));
    await measured(count ? readFile : undefined, all, async () => {
      const bytes = readFileSync(path);
      let read = 0;
      for (let at = 0; at < bytes.length; at += valueBytes) read += bytes.subarray(at, at + valueBytes).length;
      if (read === 0) throw new Error('nothing was read');
    });
  }
  fdatasyncSync(file);
  closeSync(file);
  await close();
  return { append, consume, readFile };
}

function newCost(): Cost {
  return { micros: [], perSecond: [] };
}

async function measured(cost: Cost | undefined, records: number, work: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const micros = await cpuMicrosOf(work);
  const seconds = (performance.now() - startedAt) / 1000;
  cost?.micros.push(micros / records);
  cost?.perSecond.push(records / seconds);
}

async function atOnceUntil(atOnce: number, times: number, work: () => Promise<void>): Promise<void> {
  let left = times;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function readAll(eventLog: EventLog, group: string): Promise<void> {
  const subscription = await eventLog.consume({
    topic: 'bench',
    group,
    open: async (handle) => ({
      async handle(records) {
        await handle.commit({ offset: (records.at(-1)?.offset ?? -1) + 1, metadata: '' });
      },
      async close() {},
    }),
    onError(error) {
      throw error;
    },
  });
  await caughtUp(eventLog, 'bench', group, 2);
  await subscription.close();
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as LogTask)));
