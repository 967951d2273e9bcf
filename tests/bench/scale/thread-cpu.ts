import { readFileSync } from 'node:fs';
import { cpuMicrosIn, cpuMicrosOfProcess } from '../programs/enriched-log.ts';

/** The thread IDs of the two JavaScript threads of Weir (docs/decisions/0042). */
export interface WeirThreads {
  readonly http: number;
  readonly pipeline: number;
}

/** The CPU time of Weir's parts, in microseconds. */
export interface PartsCpu {
  /** The main thread: HTTP, the gateway, control, and the writes to the log. */
  readonly http: number;
  /** The enricher and the writer. */
  readonly pipeline: number;
  /** The other threads of the process: those of V8 (compiler, garbage collector), libuv and LMDB. */
  readonly rest: number;
  /** All threads of the ClickHouse process. */
  readonly clickhouse: number;
}

/**
 * Finds the threads in the output of the program `thread-probe`, which each JavaScript thread has printed at its start. The output can contain
 * several starts of Weir: the last one counts. Throws if Weir has no pipeline thread.
 */
export function threadsIn(output: string): WeirThreads {
  const last = (kind: string): number => {
    const thread = [...output.matchAll(new RegExp(`^bench thread (\\d+) ${kind}$`, 'gm'))].at(-1)?.[1];
    if (thread === undefined) throw new Error(`Weir has no thread "${kind}": this machine needs at least two cores`);
    return Number(thread);
  };
  return { http: last('main main'), pipeline: last('worker pipeline-worker') };
}

/** Reads the CPU time so far. `rest` includes threads that have ended. */
export function readPartsCpu(pid: number, threads: WeirThreads, clickhousePid: number): PartsCpu {
  const ofThread = (thread: number): number => cpuMicrosIn(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
  const http = ofThread(threads.http);
  const pipeline = ofThread(threads.pipeline);
  return {
    http,
    pipeline,
    rest: cpuMicrosOfProcess(pid) - http - pipeline,
    clickhouse: cpuMicrosOfProcess(clickhousePid),
  };
}

/** A moment of a load: the CPU time so far, and the numbers of events that Weir has acknowledged and that its writer has inserted. */
export interface Reading {
  readonly cpu: PartsCpu;
  readonly acknowledged: number;
  readonly written: number;
}

/**
 * The CPU time of an event between two readings. The time of the pipeline thread and of ClickHouse is divided by the inserted events, and the other
 * times by the acknowledged events, because a backlog can grow or shrink between the readings.
 */
export function perEvent(before: Reading, after: Reading): PartsCpu {
  const of = (part: keyof PartsCpu, events: 'acknowledged' | 'written'): number =>
    (after.cpu[part] - before.cpu[part]) / (after[events] - before[events]);
  return {
    http: of('http', 'acknowledged'),
    pipeline: of('pipeline', 'written'),
    rest: of('rest', 'acknowledged'),
    clickhouse: of('clickhouse', 'written'),
  };
}
