import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { sendHttp } from '@weir/testkit/http-client';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import type { Programs } from '../build-programs.ts';
import { anonymousMebibytes } from '../programs/enriched-log.ts';
import { type Reading, readPartsCpu, threadsIn } from './thread-cpu.ts';

export const SCALE_SITE = 'demo';
/** Instead of 600 s, so that the last records are archived soon. */
const ARCHIVE_LINGER_S = '20';
const BLOCK_BYTES = 512;
const STORED_WITHIN_MS = 600_000;
const MIB_PER_MB = 1.048_576;

type ConsumingRole = 'writer' | 'archiver_raw' | 'archiver_enriched';

/** Megabytes (10^6 bytes) of anonymous memory. */
export interface Memory {
  readonly main: number;
  readonly clickhouse: number;
}

/** Bytes on the disk. */
export interface Sizes {
  /** Both topics, and the registry, which is small. */
  readonly log: number;
  readonly clickhouse: number;
  /** The state of the enricher. */
  readonly state: number;
}

/** A whole Weir, as `npm start` starts it, and the number of events that it has acknowledged. */
export interface ScaleWeir {
  readonly process: WeirProcess;
  readonly port: number;
  /** An API key of the site. */
  readonly key: string;
  /** The number of events that Weir has acknowledged. The caller adds those that it has sent. */
  acknowledged: number;
  /** `acknowledged`: the number of acknowledged events, if not all of them are in `acknowledged` yet. */
  reading(acknowledged?: number): Promise<Reading>;
  memory(): Memory;
  sizes(): Sizes;
  /** The number of rows of the site that SQL counts. */
  rows(): Promise<number>;
  /** The number of records that a role has processed since the last start. The writer has inserted them. */
  consumed(role: ConsumingRole): Promise<number>;
  /** Resolves when a role has processed `count` records since the last start. It needs much less CPU time than `untilStored`. */
  untilConsumed(role: ConsumingRole, count: number): Promise<void>;
  /** Resolves when SQL counts every acknowledged event. Rejects if it counts more. */
  untilStored(): Promise<void>;
  kill(): void;
}

/** Starts a Weir in an empty folder. `archive`: the folder of its archive; without it, there is no archive. */
export async function startScaleWeir(programs: Programs, dataDir: string, archive?: string): Promise<ScaleWeir> {
  const weir = await startWeir({
    dataDir,
    program: programs.path('main'),
    env: {
      LOG_LEVEL: 'error',
      RATE_LIMIT_COLLECT: '1000000000',
      RATE_LIMIT_EVENTS: '1000000000',
      ...(archive === undefined ? {} : { ARCHIVE_URL: `file://${archive}`, ARCHIVE_LINGER_SECONDS: ARCHIVE_LINGER_S }),
      NODE_OPTIONS: `--import=${programs.path('thread-probe')}`,
    },
  });
  const kill = (): void => void weir.kill9();
  process.once('exit', kill);
  const key = /Bearer (\S+?)'/.exec(weir.output())?.[1];
  if (key === undefined) throw new Error(`${dataDir} is not empty: only the first start of Weir prints an API key`);
  const consumed = async (role: ConsumingRole): Promise<number> => {
    const { text } = await sendHttp(weir.url, { path: '/metrics' });
    const counts = text.matchAll(
      new RegExp(`^weir_consumed_records_total\\{[^}]*role="${role}"[^}]*\\} (\\d+)$`, 'gm'),
    );
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const rows = (): Promise<number> => weir.client.number(`SELECT count() FROM events WHERE site_id = '${SCALE_SITE}'`);
  const scaled: ScaleWeir = {
    process: weir,
    port: Number(new URL(weir.url).port),
    key,
    acknowledged: 0,
    async reading(acknowledged = scaled.acknowledged) {
      const count = await consumed('writer');
      return {
        cpu: readPartsCpu(weir.pid(), threadsIn(weir.output()), weir.clickhousePid()),
        acknowledged,
        written: count,
      };
    },
    memory: () => ({
      main: anonymousMebibytes(weir.pid()) * MIB_PER_MB,
      clickhouse: anonymousMebibytes(weir.clickhousePid()) * MIB_PER_MB,
    }),
    sizes() {
      const of = (folder: string): number => bytesOnDisk(join(dataDir, folder));
      return { log: of('log'), clickhouse: of('clickhouse'), state: of('state') };
    },
    rows,
    consumed,
    async untilConsumed(role, count) {
      await eventually(`${role}: ${count} records`, async () => (await consumed(role)) >= count, STORED_WITHIN_MS);
    },
    async untilStored() {
      const wanted = scaled.acknowledged;
      await eventually(
        `${wanted} rows`,
        async () => {
          const found = await rows();
          if (found > wanted) throw new Error(`SQL counts ${found} rows of ${wanted} acknowledged events`);
          return found === wanted;
        },
        STORED_WITHIN_MS,
      );
    },
    kill() {
      process.off('exit', kill);
      kill();
    },
  };
  return scaled;
}

/** The bytes that the files of a folder use on the disk. Files of LMDB and of ClickHouse can have holes, which need no space. */
export function bytesOnDisk(path: string): number {
  let stats: ReturnType<typeof lstatSync>;
  try {
    stats = lstatSync(path);
    if (!stats.isDirectory()) return stats.blocks * BLOCK_BYTES;
    return readdirSync(path).reduce((sum, name) => sum + bytesOnDisk(join(path, name)), stats.blocks * BLOCK_BYTES);
  } catch (error) {
    // ClickHouse removes files while this function reads the folder.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}
