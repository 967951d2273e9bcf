import type { AppendOutcome } from '@weir/ports/event-log';

export interface KafkaRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Record<string, string>;
}

/** The records of one append call for one partition. They get consecutive offsets and one common outcome. */
export interface AppendRun {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly KafkaRecord[];
  readonly bytes: number;
  /** When the run must be settled: a time of `performance.now()`, because the system clock can be set back. */
  readonly deadlineAt: number;
  /** The status of the outcome, once it is known. */
  settled: RunOutcome['status'] | undefined;
  readonly settle: (outcome: RunOutcome) => void;
}

/** `base`: the offset of the run's first record. */
export type RunOutcome =
  | { readonly status: 'stored'; readonly base: number }
  | { readonly status: 'refused' | 'unknown'; readonly reason: string };

export function createAppendRun(
  topic: string,
  partition: number,
  records: readonly KafkaRecord[],
  deadlineAt: number,
): { readonly run: AppendRun; readonly outcome: Promise<RunOutcome> } {
  let resolve: (outcome: RunOutcome) => void = () => undefined;
  const outcome = new Promise<RunOutcome>((done) => {
    resolve = done;
  });
  const run: AppendRun = {
    topic,
    partition,
    records,
    bytes: records.reduce((sum, record) => sum + sizeOf(record), 0),
    deadlineAt,
    settled: undefined,
    settle(result) {
      if (run.settled) return;
      run.settled = result.status;
      resolve(result);
    },
  };
  return { run, outcome };
}

/** An upper bound of a record's size in a batch. */
function sizeOf({ key, value, headers }: KafkaRecord): number {
  let bytes = 40 + (key?.length ?? 0) + (value?.length ?? 0);
  for (const name in headers) bytes += 10 + name.length + (headers[name]?.length ?? 0);
  return bytes;
}

export function outcomeOf(result: RunOutcome, partition: number, index: number): AppendOutcome {
  return result.status === 'stored' ? { status: 'stored', partition, offset: result.base + index } : result;
}
