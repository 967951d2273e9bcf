import type { Checked } from '../http/compile-body.ts';
import { readParameters } from '../http/query-parameters.ts';

/** The query parameters of reports and exports. Each may be sent once, except `filter`, which may be sent several times. */
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
  | 'page'
  | 'format'
  | 'since'
  | 'until';

export type Query = Readonly<Partial<Record<QueryName, string>>> & { readonly filters: readonly string[] };

const REPORT_PARAMETERS: readonly QueryName[] = ['period', 'from', 'to', 'compare', 'filter', 'bots', 'explain'];
export const STATS_PARAMETERS: readonly QueryName[] = [...REPORT_PARAMETERS, 'interval'];
export const BREAKDOWN_PARAMETERS: readonly QueryName[] = [...REPORT_PARAMETERS, 'dimension', 'order', 'limit', 'page'];

export const EXPORT_PARAMETERS: readonly QueryName[] = ['format', 'since', 'until', 'filter'];

export const LIMIT_MAX = 1_000;
export const PAGE_MAX = 100;

export function readQuery(url: string, known: readonly QueryName[]): Checked<Query> {
  const read = readParameters(url, known, ['filter']);
  if ('problem' in read) return read;
  const found = Object.fromEntries(read.value.filter(([name]) => name !== 'filter'));
  return { value: { ...found, filters: read.value.filter(([name]) => name === 'filter').map(([, value]) => value) } };
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
