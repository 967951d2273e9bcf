import type { UserQueryResult } from '@weir/ports/analytics';

type Rows = UserQueryResult['rows'];

/** The texts of the answers that are still in memory: reports use the same facts again and again. */
const texts = new WeakMap<Rows, string>();

/** A text that is the same only for the same rows. Their order does not count, because the rows of a UNION come in random order. */
export function rowsText(rows: Rows): string {
  const known = texts.get(rows);
  if (known !== undefined) return known;
  const text = JSON.stringify(rows.map((row) => JSON.stringify(row)).sort());
  texts.set(rows, text);
  return text;
}
