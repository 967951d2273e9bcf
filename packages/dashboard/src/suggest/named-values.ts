import type { Texts } from '../i18n/text-context.tsx';
import { BOT_REASONS, DEVICES, valueText } from '../reports/dimension-view.ts';
import { formatFilter } from '../reports/filter-text.ts';
import { FILTER_VALUES_MAX, FILTERS_MAX } from '../reports/report-state.ts';

/** The most values that the admin API returns at once. */
const ROWS_MAX = 1_000;

/** All pairs of letters. Pairs that are not the code of a country or language do no harm, because `Intl` has no name for them. */
const pairs = (alphabet: string): readonly string[] =>
  [...alphabet].flatMap((first) => [...alphabet].map((second) => first + second));

/** False for a code that was replaced by a newer one. For example, the former code DD would have the same name as DE. */
const isCurrent = (tag: string): boolean => Intl.getCanonicalLocales(tag)[0] === tag;

/** The dimensions whose values the page shows by a name, for example a country instead of its code. Each has a function that lists all values. */
const CODES: Readonly<Record<string, () => readonly string[]>> = {
  country: () => pairs('ABCDEFGHIJKLMNOPQRSTUVWXYZ').filter((code) => isCurrent(`und-${code}`)),
  language: () => pairs('abcdefghijklmnopqrstuvwxyz').filter(isCurrent),
  device: () => DEVICES,
  bot_reason: () => BOT_REASONS,
};

const isNamed = (dimension: string): boolean => Object.hasOwn(CODES, dimension);

interface Search {
  readonly filter: readonly string[];
  readonly limit: number;
}

/**
 * Whether the server can search the values. It cannot search names, because it knows only the codes, for example `DE`. A search adds a filter, so
 * it is not possible if there are `FILTERS_MAX` filters already.
 */
const canSearch = (dimension: string, filters: readonly string[]): boolean =>
  !isNamed(dimension) && filters.length < FILTERS_MAX;

/**
 * The parameters of a request with these filters for the values that contain `word`. If the server cannot search them, the request is for the first
 * `ROWS_MAX` values, and `isFound` searches these.
 */
export function searchOf(dimension: string, word: string, limit: number, filters: readonly string[]): Search {
  if (word === '') return { filter: filters, limit };
  if (!canSearch(dimension, filters)) return { filter: filters, limit: ROWS_MAX };
  return { filter: [...filters, formatFilter({ dimension, operator: 'contains', values: [word] })], limit };
}

/** Whether the name or the code of the value contains `word`. Always true if the server has searched the values. */
export function isFound(
  texts: Texts,
  dimension: string,
  value: string,
  word: string,
  filters: readonly string[],
): boolean {
  if (word === '' || canSearch(dimension, filters)) return true;
  return [value, valueText(texts, dimension, value)].some((text) => lower(text).includes(lower(word)));
}

/**
 * The values of a filter for a typed text, which can be a name or a code. First choice: the values in `known` with this name or code. A language with
 * a region also has the name of the language (`de-DE` has the name "German"). If `known` has no such value: the code with this name. If no code has
 * this name: the text itself. `known` is undefined until the values of the period are loaded. The result for a language is then undefined too,
 * because one name can belong to several values. For other dimensions, `known` is not needed.
 */
export function valuesOf(
  texts: Texts,
  dimension: string,
  text: string,
  known: readonly string[] | undefined,
): readonly string[] | undefined {
  const word = lower(text.trim());
  if (word === '' || !isNamed(dimension)) return [text];
  if (known === undefined && dimension === 'language') return undefined;
  const names = (value: string): readonly string[] => [
    value,
    valueText(texts, dimension, value),
    ...(dimension === 'language' ? [valueText(texts, dimension, value.split('-')[0] ?? '')] : []),
  ];
  const found = (known ?? []).filter((value) => names(value).some((name) => lower(name) === word));
  return found.length > 0 ? found.slice(0, FILTER_VALUES_MAX) : [codeOf(texts, dimension, text)];
}

/** The code of the value with this name. Returns other texts as they are. */
function codeOf(texts: Texts, dimension: string, text: string): string {
  const codes = text.trim() === '' || !isNamed(dimension) ? [] : (CODES[dimension]?.() ?? []);
  const word = lower(text.trim());
  return codes.find((code) => lower(code) === word || lower(valueText(texts, dimension, code)) === word) ?? text;
}

const lower = (text: string): string => text.toLowerCase();
