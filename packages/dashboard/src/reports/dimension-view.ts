import { EN } from '../i18n/en.ts';
import type { TextKey, Texts } from '../i18n/text-context.tsx';
import type { ReportFilter } from './filter-text.ts';

type NameIn<Key> = Key extends `dimension.${infer Name}` ? Name : never;
export type DimensionName = NameIn<TextKey>;

const LABEL = 'dimension.';
/** The dimensions that the filter dialog offers, in the order of the texts in `EN`. Properties are not among them. */
export const DIMENSIONS = Object.keys(EN)
  .filter((key) => key.startsWith(LABEL))
  .map((key) => key.slice(LABEL.length)) as readonly DimensionName[];

export const DEVICES = ['desktop', 'mobile', 'tablet'] as const;
export const BOT_REASONS = [
  'ai_crawler',
  'known_bot',
  'bot_pattern',
  'http_library',
  'headless_browser',
  'no_user_agent',
] as const;

/** The dimensions that are only for filters, each with the dimension that lists its values. */
const DONE = { done_event: 'event', viewed_page: 'page' } as const;
type DoneName = keyof typeof DONE;
/** Whether filters of this dimension are about what a visitor has done (docs/stats.md). */
export const isDone = (name: string): name is DoneName => Object.hasOwn(DONE, name);
/** The dimension whose breakdown has the values for a filter. */
export const valuesDimension = (name: string): string => (isDone(name) ? DONE[name] : name);

const isDimension = (name: string): name is DimensionName => DIMENSIONS.some((one) => one === name);

export const dimensionLabel = (name: DimensionName): TextKey => `dimension.${name}`;

/** The label of a dimension; a property is shown by its own name. */
export function dimensionText(texts: Texts, name: string): string {
  return isDimension(name) ? texts.t(dimensionLabel(name)) : name.replace(/^property:/, '');
}

/** The text of a filter before its values: for example "Page is", "Has done event:" or "Has not viewed page: matches". */
export function conditionText(texts: Texts, { dimension, operator }: ReportFilter): string {
  if (!isDone(dimension)) return `${dimensionText(texts, dimension)} ${texts.t(`operator.${operator}`)}`;
  const positive = operator.replace('_not', '') as 'is' | 'contains' | 'matches';
  const name = texts.t(operator === positive ? dimensionLabel(dimension) : `not.${dimension}`);
  return positive === 'is' ? `${name}:` : `${name}: ${texts.t(`operator.${positive}`)}`;
}

const PAGES: readonly string[] = ['page', 'entry', 'exit', 'viewed_page'];

/** A character that browsers percent-encode in paths, except invisible ones. A filter finds it in either spelling (docs/stats.md, Filters). */
const READABLE = /^(?:[^!-~\p{C}]|["<>`{}])$/u;
/** The percent-encoded UTF-8 of one character, by the number of bytes that its first byte announces. */
const ENCODED_CHARACTER =
  /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}/gi;

/** A path as people read it: browsers send `/Über uns` as `/%C3%9Cber%20uns`. All other escapes stay, because they mean another path. */
export function pathText(path: string): string {
  return path.replace(ENCODED_CHARACTER, (encoded) => {
    try {
      const character = decodeURIComponent(encoded);
      return READABLE.test(character) ? character : encoded;
    } catch {
      return encoded;
    }
  });
}

/** The text that the page shows for a value, for example the name of a country instead of its code. */
export function valueText(texts: Texts, dimension: string, value: string): string {
  if (value === '') return texts.t(dimension === 'source' || dimension === 'channel' ? 'value.direct' : 'value.none');
  if (PAGES.includes(dimension)) return pathText(value);
  if (dimension === 'country') return texts.country(value);
  if (dimension === 'language') return texts.tongue(value);
  if (dimension === 'device') {
    const device = DEVICES.find((one) => one === value);
    if (device !== undefined) return texts.t(`device.${device}`);
  }
  if (dimension === 'bot_reason') {
    const reason = BOT_REASONS.find((one) => one === value);
    if (reason !== undefined) return texts.t(`botReason.${reason}`);
  }
  return value;
}

/** The values of a filter as one text. Two spellings of one path are shown once. */
export function filterValuesText(texts: Texts, { dimension, values }: ReportFilter): string {
  return [...new Set(values.map((value) => valueText(texts, dimension, value)))].join(', ');
}

/** The flag of a country as two regional indicator letters. Empty if `code` is not two capital letters. */
export function flagOf(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return '';
  return String.fromCodePoint(...[...code].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65));
}
