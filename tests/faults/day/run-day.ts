import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { seededRandom } from '@weir/testkit/load';
import type { WeirClient } from '@weir/testkit/weir-client';
import { TEST_ADMIN_TOKEN } from '@weir/testkit/weir-process';
import { auditSent, type SentAudit } from '../suite/audit-sent.ts';
import { addressesOnDisk } from '../suite/embedded-subject.ts';
import { startVisitorLoad } from '../suite/visitor-load.ts';
import { type Sample, takeSample } from './day-samples.ts';
import { type DayWeir, openDayWeir } from './day-weir.ts';
import { startHostileTraffic } from './hostile-traffic.ts';
import { memoryTogether, readProcessGroup } from './process-group.ts';

export interface DayOptions {
  /** The measured hours, by the clock of Weir. They begin after `fillHours`. */
  readonly hours: number;
  /** The hours before the measured hours. In this time, all data that Weir keeps for a day reaches its full size. */
  readonly fillHours: number;
  /** The real minutes of the whole run (`fillHours` and `hours`). */
  readonly minutes: number;
  readonly seed: number;
  /** The maximum memory of all processes of Weir together. Default: 1 GB. */
  readonly memoryMaxBytes?: number;
  readonly say: (text: string) => void;
}

export interface DayResult extends SentAudit {
  readonly samples: readonly Sample[];
  /** How much faster than real time the clock of Weir went. */
  readonly rate: number;
  /** The highest memory of all processes together, in bytes. It is measured four times per second. */
  readonly memoryMost: number;
  /** The number of records in the event log, from all clients. */
  readonly received: number;
  /** The number of requests of honest clients for each answer: a status, `no connection` or `no answer`. */
  readonly saw: ReadonlyMap<string, number>;
  /** The number of hostile requests for each kind and answer: a status, or `none`. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export const MEMORY_MAX_BYTES = 1024 ** 3;
const CLIENTS = 2;
const SAMPLE_MS = 10_000;
const WATCH_MS = 250;
const SETTLES_WITHIN_MS = 600_000;
const FINDINGS_MAX = 10;
const NO_LIMITS = { collect: 100_000_000, events: 100_000_000, identify: 100_000_000 };
const KEEP_ALL = { events: 'forever', profiles: 'forever', rollups: 'forever' };
const FLOODED_LIMITS = { collect: 60 };

/**
 * Sends honest and hostile traffic to a Weir whose clock goes faster than real time. At the end, compares the stored records with the sent
 * records.
 */
export async function runDay(options: DayOptions): Promise<DayResult> {
  const { hours, fillHours, minutes, seed, memoryMaxBytes = MEMORY_MAX_BYTES, say } = options;
  const rate = Math.max(1, Math.round(((hours + fillHours) * 60) / minutes));
  const day = await openDayWeir(rate, hours + fillHours);
  const findings: string[] = [];
  const { weir } = day;
  const { client, url } = weir;
  try {
    const { site, key } = await client.createSiteWithKey({ limits: NO_LIMITS, keep: KEEP_ALL });
    const hostileSite = await client.createSite();
    const hostileKey = await client.createKey(hostileSite);
    const floodedSite = await client.createSite({ limits: FLOODED_LIMITS });
    const watch = watchProcesses(day, memoryMaxBytes, (finding) => {
      say(finding);
      findings.push(finding);
    });
    const load = startVisitorLoad({
      ...{ urls: [url], site, key, clients: CLIENTS, random: seededRandom(seed), sendsKeysAgain: true },
    });
    const hostile = startHostileTraffic(url, {
      ...{ site: hostileSite, key: hostileKey.key, floodedSite, adminToken: TEST_ADMIN_TOKEN },
      random: seededRandom(seed + 1),
    });
    const samples: Sample[] = [];
    let shown = -1;
    while (day.hours() < hours + fillHours && watch.isAlive()) {
      await pause(SAMPLE_MS); // the run lasts for a given time, so the pause is part of it
      const sample = await takeSample(day).catch((error: Error) => error);
      if (sample instanceof Error) {
        say(`no sample at hour ${day.hours().toFixed(1)}: ${sample.message}`);
        continue;
      }
      if (sample.hour >= fillHours) samples.push(sample);
      if (Math.floor(sample.hour) > shown) {
        shown = Math.floor(sample.hour);
        say(`${shownSample(sample)}, ${load.acknowledged()} acknowledged`);
      }
    }
    await hostile.stop();
    if (!watch.isAlive()) load.abandon();
    await load.stop();
    if (!watch.isAlive()) throw new Error(`Weir ended: ${findings.join('; ')}\n${weir.output().slice(-4_000)}`);
    await client.settled(SETTLES_WITHIN_MS);
    await eventually('the expiry to end', async () => !(await isErasing(client)), SETTLES_WITHIN_MS);
    const memoryMost = watch.stop();
    const audit = await auditSent(weir, site, load.sent);
    findings.push(
      ...load.strange.slice(0, FINDINGS_MAX),
      ...hostile.strange.slice(0, FINDINGS_MAX),
      ...audit.findings,
      ...addressesOnDisk(day),
    );
    const received = await client.number(
      'SELECT sum(n) FROM (SELECT max(raw_offset) + 1 AS n FROM records GROUP BY log_id, raw_partition)',
    );
    say(`the log of Weir: ${countLines(weir.output())}`);
    return { ...audit, findings, samples, rate, memoryMost, received, saw: load.saw, answers: hostile.answers };
  } finally {
    await day.close();
  }
}

/** Whether records are being removed. Until the end of a removal, a record can be stored together with the row that replaces it. */
async function isErasing(client: WeirClient): Promise<boolean> {
  const { totals } = (await client.must(200, 'GET', '/audit')) as { readonly totals: { readonly erasing: number } };
  return totals.erasing > 0;
}

/** Checks that no process of Weir ends or restarts, and that their memory together stays below the limit. */
function watchProcesses({ weir }: DayWeir, memoryMaxBytes: number, found: (finding: string) => void) {
  const pids = readProcessGroup(weir.pid()).map(({ pid }) => pid);
  const processes = pids.join(', ');
  let most = 0;
  let alive = true;
  let exceeded = false;
  void weir.ended().then((code) => {
    if (alive) found(`the main process ended with ${code}`);
    alive = false;
  });
  const timer = setInterval(() => {
    const memory = memoryTogether(pids);
    most = Math.max(most, memory);
    if (memory > memoryMaxBytes && !exceeded) {
      exceeded = true;
      found(`the processes used ${megabytes(memory)} of memory, more than ${megabytes(memoryMaxBytes)}`);
    }
  }, WATCH_MS);
  return {
    isAlive: () => alive,
    stop(): number {
      clearInterval(timer);
      const now = readProcessGroup(weir.pid())
        .map(({ pid }) => pid)
        .join(', ');
      if (now !== processes) found(`the processes were ${processes} at the start and are ${now} at the end`);
      alive = false;
      return most;
    },
  };
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString('en-US')} MB`;

function shownSample({ hour, ...measures }: Sample): string {
  const shown = Object.entries(measures).map(
    ([name, value]) => `${name} ${/memory|disk/.test(name) ? megabytes(value) : value.toLocaleString('en-US')}`,
  );
  return `hour ${hour.toFixed(1)}: ${shown.join(', ')}`;
}

function countLines(output: string): string {
  const counts = new Map<string, number>();
  for (const line of output.split('\n')) {
    const message = /"msg":"([^"]*)"/.exec(line)?.[1];
    if (message !== undefined) counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  return [...counts].map(([message, count]) => `${count} x ${message}`).join('; ') || 'empty';
}
