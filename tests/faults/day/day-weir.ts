import { eventually } from '@weir/testkit/eventually';
import { sendHttp } from '@weir/testkit/http-client';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { fakeTimeEnv, whyNoFakeTime } from '../fake-time.ts';
import { mountSmallDisk, type SmallDisk, whyNoMount } from '../small-disk.ts';
import { SUITE_ENV } from '../suite/embedded-subject.ts';

/** A Weir on a small disk, whose clock goes faster than real time. */
export interface DayWeir {
  readonly weir: WeirProcess;
  readonly disk: SmallDisk;
  /** The hours since Weir started. An hour of Weir's fast clock counts as one hour. */
  hours(): number;
  close(): Promise<void>;
}

export const DISK_MB = 5_000;
const HOUR_MS = 3_600_000;
/** After this real time, the test checks that the clock of Weir is really faster. */
const CLOCK_SEEN_MS = 3_000;

/**
 * The default rate limits, and a retention that is so short that Weir removes old data of every kind during the run. Only the site of the honest
 * clients has other limits and keeps all rows (run-day.ts), because the audit at the end compares its rows.
 */
const ENV = {
  // The value that Weir chooses by itself on a machine with 1 GB of memory.
  WEIR_CLICKHOUSE_MEMORY_MB: '352',
  // Node sees the memory of the whole machine, and would use more for its heap than on a machine with 1 GB. The main thread and
  // the pipeline thread of Weir each have this limit.
  NODE_OPTIONS: '--max-old-space-size=256',
  ...{ RATE_LIMIT_COLLECT: '', RATE_LIMIT_EVENTS: '', RATE_LIMIT_IDENTIFY: '' },
  ...{ RAW_RETENTION_HOURS: '6', ENRICHED_RETENTION_DAYS: '1' },
  ...{ KEEP_EVENTS: '1d', KEEP_PROFILES: '1d', KEEP_ROLLUPS: '1d' },
};

/** Why the run is not possible on this machine; `undefined` if it is. */
export function whyNoDay(): string | undefined {
  return whyNoMount() ?? whyNoFakeTime();
}

/**
 * Starts Weir. `rate`: how much faster than real time its clock goes. `hours`: how many hours of this clock the run will take. The clock begins
 * `hours` before the real time. Therefore its times are never in the future for the clients.
 */
export async function openDayWeir(rate: number, hours: number): Promise<DayWeir> {
  const disk = mountSmallDisk('ext4', DISK_MB);
  try {
    const env = {
      ...SUITE_ENV,
      ...ENV,
      ...fakeTimeEnv(),
      NO_FAKE_STAT: '1',
      FAKETIME: `-${Math.ceil(hours)}h x${rate}`,
    };
    const weir = await startWeir({ dataDir: disk.folder, env });
    try {
      const startedAt = performance.now();
      const began = await clockOf(weir);
      await eventually('the clock to go faster', async () => {
        const passed = performance.now() - startedAt;
        return passed > CLOCK_SEEN_MS && (await clockOf(weir)) - began > (passed * rate) / 2;
      });
      return {
        weir,
        disk,
        hours: () => ((performance.now() - startedAt) * rate) / HOUR_MS,
        async close() {
          await weir.stop().finally(() => disk.unmount());
        },
      };
    } catch (error) {
      await weir.stop().catch(() => undefined);
      throw error;
    }
  } catch (error) {
    disk.unmount();
    throw error;
  }
}

/** The time of Weir's clock in Unix milliseconds, from the header `Date`. This header has whole seconds, and Weir updates it once per real second. */
async function clockOf({ url }: WeirProcess): Promise<number> {
  const { headers } = await sendHttp(url, { path: '/healthz' });
  return Date.parse(String(headers.date));
}
