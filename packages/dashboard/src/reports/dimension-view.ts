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

/** The text that the page shows for a value, for example the name of a country instead of its code. */
export function valueText(texts: Texts, dimension: string, value: string): string {
  if (value === '') return texts.t(dimension === 'source' || dimension === 'channel' ? 'value.direct' : 'value.none');
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

/** The flag of a country as two regional indicator letters. Empty if `code` is not two capital letters. */
export function flagOf(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return '';
  return String.fromCodePoint(...[...code].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65));
}
