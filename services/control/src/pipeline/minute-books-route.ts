import type { AdminDeps } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';
import { invalid, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { readCount, readParameters } from '../http/query-parameters.ts';
import { isRemovingRows } from '../retention/tables-in-use.ts';
import { type MinuteBooks, readMinuteBooks } from './minute-books.ts';

const MINUTE_MS = 60_000;
const MINUTES_DEFAULT = 60;
export const MINUTES_MAX = 1_440;
/**
 * A difference between `records` and `books_sums` counts only if this many readings show it. Before each further reading, Weir waits for the running
 * inserts, because an insert can be visible in only one of the two tables.
 */
const READINGS = 3;

/** Answers with the records of the last minutes by outcome, and whether `books_sums` has the same numbers as `records`. */
export async function listMinuteBooks(deps: AdminDeps, { http, context }: AdminRequest): Promise<Reply> {
  const sent = readParameters(http.url, ['minutes']);
  if ('problem' in sent) return invalid(sent.problem);
  const count = readCount('minutes', sent.value[0]?.[1], { max: MINUTES_MAX, otherwise: MINUTES_DEFAULT });
  if ('problem' in count) return invalid(count.problem);
  const now = Math.floor(deps.clock() / MINUTE_MS) * MINUTE_MS;
  const fromMs = now - (count.value - 1) * MINUTE_MS;
  const read = () => deps.tables.read((tables) => readMinuteBooks(tables, fromMs), context);
  let found = await read();
  const wrong = differences(found);
  for (let reading = 1; reading < READINGS && wrong.size > 0; reading++) {
    await deps.insertsEnd();
    found = await read();
    const again = differences(found);
    for (const [minute, difference] of wrong) if (again.get(minute) !== difference) wrong.delete(minute);
  }
  // While an erasure or an expiry deletes rows, `records` still has some rows that `books_sums` does not count any more. Such a
  // difference is not a fault.
  const isErasing = isRemovingRows(deps.registry);
  const minutes = Array.from({ length: count.value }, (_, nth) => {
    const minute = fromMs + nth * MINUTE_MS;
    const outcomes = found.find((one) => one.minute === minute)?.outcomes ?? {};
    return {
      minute: formatTime(minute),
      received: Object.values(outcomes).reduce((sum, records) => sum + records, 0),
      outcomes,
      balanced: isErasing || !wrong.has(minute),
    };
  });
  return ok({ balanced: minutes.every(({ balanced }) => balanced), minutes });
}

const differences = (found: readonly MinuteBooks[]): Map<number, number> =>
  new Map(found.flatMap(({ minute, difference }) => (difference === 0 ? [] : [[minute, difference] as const])));
