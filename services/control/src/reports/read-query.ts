import type { Checked } from '../validate.ts';

/** What a report may be asked with; every one but `filter` once at most. */
export type QueryName =
  | 'period'
  | 'from'
  | 'to'
  | 'compare'
  | 'filter'
  | 'bots'
  | 'explain'
  | 'interval'
  | 'dimension'
  | 'order'
  | 'limit'
  | 'page';

export type Query = Readonly<Partial<Record<QueryName, string>>> & { readonly filters: readonly string[] };

/**
 * The query of a request's URL. Not Express's: that one stops after a thousand parameters without a word, and a filter that
 * is passed over gives wrong numbers. For the same reason an unknown parameter is refused.
 */
export function readQuery(url: string, known: readonly QueryName[]): Checked<Query> {
  const at = url.indexOf('?');
  const found: Partial<Record<QueryName, string>> = {};
  const filters: string[] = [];
  for (const [name, value] of new URLSearchParams(at < 0 ? '' : url.slice(at + 1))) {
    const own = known.find((candidate) => candidate === name);
    if (own === undefined) {
      return { problem: `${name.slice(0, 64)} is not a known parameter; known are ${known.join(', ')}` };
    }
    if (own === 'filter') filters.push(value);
    else if (own in found) return { problem: `${own} must not be given twice` };
    else found[own] = value;
  }
  return { value: { ...found, filters } };
}

/** One of a closed list. */
export function readChoice<Choice extends string>(
  name: QueryName,
  text: string | undefined,
  choices: readonly Choice[],
): Checked<Choice | undefined> {
  if (text === undefined) return { value: undefined };
  const choice = choices.find((candidate) => candidate === text);
  return choice === undefined ? { problem: `${name} must be one of ${choices.join(', ')}` } : { value: choice };
}

export function readCount(
  name: QueryName,
  text: string | undefined,
  { max, otherwise }: { readonly max: number; readonly otherwise: number },
): Checked<number> {
  if (text === undefined) return { value: otherwise };
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= max ? { value: count } : { problem: `${name} must be a whole number from 1 to ${max}` };
}
