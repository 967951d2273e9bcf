import type { Checked } from '../http/compile-body.ts';

/** The query parameters of reports. Each may be sent once, except `filter`, which may be sent several times. */
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

const REPORT_PARAMETERS: readonly QueryName[] = ['period', 'from', 'to', 'compare', 'filter', 'bots', 'explain'];
export const STATS_PARAMETERS: readonly QueryName[] = [...REPORT_PARAMETERS, 'interval'];
export const BREAKDOWN_PARAMETERS: readonly QueryName[] = [...REPORT_PARAMETERS, 'dimension', 'order', 'limit', 'page'];

export const LIMIT_MAX = 1_000;
export const PAGE_MAX = 100;

/**
 * Reads the query parameters of a URL. Express would silently ignore all parameters after the first thousand, and an ignored
 * filter would give wrong numbers. An unknown parameter is refused for the same reason.
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

/** Reads a parameter whose value must be in a list. */
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
