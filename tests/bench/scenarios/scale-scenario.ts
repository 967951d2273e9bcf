import { setTimeout as pause } from 'node:timers/promises';
import type { Programs } from '../build-programs.ts';
import { loadText } from '../report/machine.ts';
import { showNumber } from '../report/spread.ts';
import { ARCHIVED_EVENTS, type ArchiveBytes, measureArchive } from '../scale/archive-bytes.ts';
import { growTo, OLD_PARTS_MS, REST_MS, type RowsFigures, TAIL_EVENTS } from '../scale/grow-rows.ts';
import { KILL_AFTER_S } from '../scale/kill-recovery.ts';
import {
  type LiveRate,
  measureRates,
  p50AndP99,
  type VisitorState,
  WARM_UP_EVENTS,
  WARM_UP_S,
  WINDOW_S,
} from '../scale/live-rates.ts';
import { EVENTS_PER_VISITOR } from '../scale/scale-events.ts';
import { type Memory, type ScaleWeir, startScaleWeir } from '../scale/scale-weir.ts';
import type { PartsCpu } from '../scale/thread-cpu.ts';
import type { Bench, Findings, Scenario, Table, Target } from './scenario.ts';

const ROWS_DEFAULT = [1_000_000, 10_000_000];
const IDLE_MB_MAX = 220;
const FULL_MB_MAX = 450;
const FULL_ROWS = 10_000_000;

export const scale: Scenario = {
  name: 'scale',
  about:
    'CPU of each part at fixed rates of events, and cost, disk space, memory, start and recovery by number of rows',
  rounds: 1,
  onlyByName: 'it fills a Weir with 10 million events, which takes about half an hour',
  run,
};

async function run({ programs, rows = ROWS_DEFAULT, note }: Bench): Promise<Findings> {
  const { idle, rates, state } = await withWeir(programs, async (weir) => {
    await pause(REST_MS);
    const memory = weir.memory();
    note(`idle: ${megabytes(memory)} MB`);
    return { idle: memory, ...(await measureRates(weir, note)) };
  });
  const found = await withWeir(programs, async (weir) => {
    const figures: RowsFigures[] = [];
    for (const wanted of [...rows].sort((a, b) => a - b)) {
      if (wanted < weir.acknowledged + TAIL_EVENTS)
        throw new Error(`--rows: ${weir.acknowledged} rows are stored already`);
      const load = loadText();
      figures.push(await growTo(weir, wanted, note));
      note(`load average before: ${load}; after: ${loadText()}`);
    }
    return figures;
  });
  note(`archive: ${ARCHIVED_EVENTS} events`);
  const folder = programs.newFolder();
  const archive = await withWeir(programs, (weir) => measureArchive(weir, folder), folder);
  return findingsOf({ idle, rates, state, found, archive });
}

/** Starts a Weir in a new folder, and stops it after `use`. */
async function withWeir<T>(programs: Programs, use: (weir: ScaleWeir) => Promise<T>, archive?: string): Promise<T> {
  const weir = await startScaleWeir(programs, programs.newFolder(), archive);
  try {
    const result = await use(weir);
    await weir.process.terminate();
    return result;
  } finally {
    weir.kill();
  }
}

const sum = ({ main, clickhouse }: Memory): number => main + clickhouse;
const megabytes = (memory: Memory): string =>
  `${showNumber(sum(memory), 0)} (${showNumber(memory.main, 0)} + ${showNumber(memory.clickhouse, 0)})`;
const cpuCells = ({ http, pipeline, rest, clickhouse }: PartsCpu): readonly string[] =>
  [http, pipeline, rest, clickhouse, http + pipeline + rest + clickhouse].map((micros) => showNumber(micros, 1));
const CPU_HEAD = ['HTTP thread', 'pipeline thread', 'other threads', 'ClickHouse', 'sum'];

interface Measured {
  readonly idle: Memory;
  readonly rates: readonly LiveRate[];
  readonly state: VisitorState;
  readonly found: readonly RowsFigures[];
  readonly archive: ArchiveBytes;
}

function findingsOf({ idle, rates, state, found, archive }: Measured): Findings {
  return {
    tables: [
      ratesTable(rates),
      cpuTable(found),
      rowsTable(idle, found),
      {
        head: ['state of the enricher after the pageviews', 'visitors', 'MB', 'MB per million visitors'],
        rows: [
          [
            'sessions of visitors',
            showNumber(state.visitors, 0),
            showNumber(state.bytes / 1e6),
            showNumber(state.bytes / state.visitors, 0),
          ],
        ],
      },
      {
        head: [`archive, ${showNumber(ARCHIVED_EVENTS, 0)} events`, 'bytes per event'],
        rows: [
          ['`events.raw`', showNumber(archive.raw)],
          ['`events.enriched`', showNumber(archive.enriched)],
        ],
      },
    ],
    targets: targetsOf(idle, found),
    notes: [
      `A whole Weir with embedded engines, started as \`npm start\` does, and its clients share this machine. One Weir, in a new folder, was measured idle and with the rates, then another one with the fill, and then one with an archive in a folder. Each measurement ran once. Memory is anonymous memory in MB (10^6 bytes): "sum (main process + ClickHouse)".`,
      `The CPU times come from /proc/PID/stat and /proc/PID/task/TID/stat (user and system time). The benchmark loads a module into each JavaScript thread of Weir, which prints the ID of its thread. "HTTP thread": the main thread. "Pipeline thread": the enricher and the writer. "Other threads": the process without these two threads (compiler and garbage collector of V8, libuv, LMDB). The times of the pipeline thread and of ClickHouse are divided by the inserted events, the others by the acknowledged events.`,
      `Rates: ${showNumber(WARM_UP_EVENTS, 0)} events of each kind first, which are not measured. Then open loop, ${WARM_UP_S} s of load before ${WINDOW_S} s of measurement; latencies count from the planned time of a request. If the rate is not held, the row has the highest rate of 64 connections that wait for their answers. "Visible": the time from an answer until SQL finds the row, for 15 pageviews after the measurement, during the same load. One event in ${EVENTS_PER_VISITOR} is by a new visitor, three are by the same visitor, and one is by any earlier visitor.`,
      `Rows: batches of 500 server events on 8 connections, as fast as the writer inserts them. "Last events": the last ${showNumber(TAIL_EVENTS, 0)} events, until all of them are inserted. "Fill": all events since the row above, with the merges of that time. One visitor for ${EVENTS_PER_VISITOR} events. The memory is that of the process since its last restart; "after" is ${REST_MS / 1000} s after the last event.`,
      `Recovery: 8 connections send batches for ${KILL_AFTER_S} s, then all processes are killed (SIGKILL) and started again. It ends when SQL counts at least as many rows as events were acknowledged. Then each event of each acknowledged batch must be stored exactly once. Batches without an answer can be stored. After each rate, each fill and each restart, SQL must count exactly the acknowledged events.`,
      `Disk space: blocks of the file system, at least ${OLD_PARTS_MS / 1000} s after the last event, when the size of ClickHouse has not changed for 30 s, because ClickHouse has then removed the parts that merges have replaced. The event log has both topics. With the default retention (72 hours, 30 days), nothing was deleted from it during the run.`,
    ],
  };
}

function ratesTable(rates: readonly LiveRate[]): Table {
  return {
    head: [
      'rate',
      'reached/s',
      ...CPU_HEAD,
      'answers p50 / p99 ms',
      'visible p50 / max ms',
      'backlog',
      'memory, MB',
    ].map((text, nth) => (nth >= 2 && nth <= 6 ? `${text}, µs per event` : text)),
    rows: rates.map(({ kind, wanted, reached, refused, cpu, backlog, memory, answersMs, visibleMs }) => [
      `${kind}: ${showNumber(wanted, 0)}/s${refused === undefined ? '' : `, not held: ${refused}`}`,
      showNumber(reached, 0),
      ...cpuCells(cpu),
      p50AndP99(answersMs)
        .map((ms) => showNumber(ms))
        .join(' / '),
      visibleMs.length === 0
        ? '-'
        : `${showNumber(p50AndP99(visibleMs)[0], 0)} / ${showNumber(visibleMs.at(-1) ?? Number.NaN, 0)}`,
      showNumber(Math.max(0, backlog), 0),
      megabytes(memory),
    ]),
  };
}

function cpuTable(found: readonly RowsFigures[]): Table {
  return {
    head: ['CPU µs per event', ...CPU_HEAD],
    rows: found.flatMap(({ rows, tail, fill }) => [
      [`${showNumber(rows, 0)} rows: last events`, ...cpuCells(tail)],
      [`${showNumber(rows, 0)} rows: fill`, ...cpuCells(fill)],
    ]),
  };
}

function rowsTable(idle: Memory, found: readonly RowsFigures[]): Table {
  const row = (what: string, of: (figures: RowsFigures) => string): readonly string[] => [what, ...found.map(of)];
  const perEvent = (bytes: number, { rows }: RowsFigures): string => showNumber(bytes / rows);
  return {
    head: ['', ...found.map(({ rows }) => `${showNumber(rows, 0)} rows`)],
    rows: [
      row('visitors', ({ visitors }) => showNumber(visitors, 0)),
      row('events per second of the fill', ({ eventsPerSecond }) => showNumber(eventsPerSecond, 0)),
      row('event log, bytes per event', (one) => perEvent(one.sizes.log, one)),
      row('ClickHouse, bytes per event', (one) => perEvent(one.sizes.clickhouse, one)),
      row(`memory (idle before all events: ${megabytes(idle)}): highest during the fill, MB`, ({ memoryMax }) =>
        megabytes(memoryMax),
      ),
      row('memory after the fill, MB', ({ memory }) => megabytes(memory)),
      row('clean stop, s', ({ stopSeconds }) => showNumber(stopSeconds, 2)),
      row('clean start until ready, s', ({ startSeconds }) => showNumber(startSeconds, 2)),
      row('kill -9: backlog, events', ({ recovery }) => showNumber(recovery.backlog, 0)),
      row('kill -9: start until ready, s', ({ recovery }) => showNumber(recovery.readySeconds, 2)),
      row('kill -9: start until SQL counts every acknowledged event, s', ({ recovery }) =>
        showNumber(recovery.recoveredSeconds, 2),
      ),
    ],
  };
}

function targetsOf(idle: Memory, found: readonly RowsFigures[]): readonly Target[] {
  const memory = (what: string, one: Memory, max: number): Target => ({
    what: `anonymous memory of all processes, ${what}`,
    wanted: `<= ${max} MB`,
    found: `${showNumber(sum(one), 0)} MB`,
    met: sum(one) <= max,
  });
  const full = found.find(({ rows }) => rows === FULL_ROWS);
  return [
    memory('idle', idle, IDLE_MB_MAX),
    ...(full === undefined ? [] : [memory('after 10 million events', full.memory, FULL_MB_MAX)]),
  ];
}
