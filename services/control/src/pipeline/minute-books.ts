import type { Analytics } from '@weir/ports/analytics';

/** The number of records that were received in one minute, by outcome. */
export interface MinuteBooks {
  /** Unix milliseconds of the start of the minute. */
  readonly minute: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /**
   * The sum, over all outcomes, of the absolute difference between the numbers of records in `records` and in `books_sums`. If it is not 0,
   * the two tables do not agree.
   */
  readonly difference: number;
}

interface Row {
  readonly minute: number | string;
  readonly outcome: string;
  readonly records: number | string;
  readonly booked: number | string;
}

/**
 * Counts the rows of `records` by minute and outcome, and compares them with `books_sums`, which a view fills at each insert. One statement reads
 * both tables. It has the limits of a report, and is cancelled with its request. A row of a running insert can be in `records` only.
 */
export async function readMinuteBooks(
  { userQuery }: Pick<Analytics, 'userQuery'>,
  fromMs: number,
): Promise<readonly MinuteBooks[]> {
  const { rows } = await userQuery(
    `SELECT toUnixTimestamp(minute) AS minute, outcome, sum(stored) AS records, sum(counted) AS booked FROM (
       SELECT toStartOfMinute(received_at) AS minute, toString(outcome) AS outcome, toInt64(count()) AS stored, toInt64(0) AS counted
       FROM records WHERE received_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') GROUP BY minute, outcome
       UNION ALL
       SELECT minute, toString(outcome) AS outcome, toInt64(0) AS stored, toInt64(sum(records)) AS counted
       FROM books_sums WHERE minute >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') GROUP BY minute, outcome
     ) GROUP BY minute, outcome HAVING records != 0 OR booked != 0 ORDER BY minute, outcome`,
    { from: fromMs },
  );
  const minutes = new Map<number, { outcomes: Record<string, number>; difference: number }>();
  for (const { minute, outcome, records, booked } of rows as unknown as readonly Row[]) {
    const at = Number(minute) * 1_000;
    const found = minutes.get(at) ?? { outcomes: {}, difference: 0 };
    found.outcomes[outcome] = Number(records);
    // The absolute values are added. Otherwise, opposite differences of two outcomes would cancel each other.
    found.difference += Math.abs(Number(records) - Number(booked));
    minutes.set(at, found);
  }
  return [...minutes].map(([minute, books]) => ({ minute, ...books }));
}
