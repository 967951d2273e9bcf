import type { Model, ModelRow, ModelVisit } from './model-rows.ts';
import { BOT_REASON } from './sent-parts.ts';

const OF_THE_VISIT = ['entry', 'exit', 'source', 'channel', 'referrer'];
/** The dimensions that list rows without a value, under the empty text. */
export const LISTS_EMPTY = [
  ...['source', 'channel', 'referrer', 'country', 'region', 'city', 'language'],
  ...['browser', 'browser_version', 'os', 'os_version', 'device'],
];
/** The filters on what a visitor has done. */
export const isDone = (dimension: string): boolean => dimension === 'done_event' || dimension === 'viewed_page';
/** The values of a row for a filter on what a visitor has done. Empty if the row is not of this kind. */
export function doneValues({ name, values }: ModelRow, dimension: string): readonly string[] {
  if (dimension === 'done_event') return name === '' ? [] : [name];
  return name === '' ? [values.page ?? ''] : [];
}
export const isOfVisit = (dimension: string): boolean =>
  OF_THE_VISIT.includes(dimension) || dimension.startsWith('utm_');

/** The value of a dimension for a row. For a dimension of visits, it is the value of the row's visit, if the row has one; otherwise the row's own. */
export function dimensionValue(model: Model, row: ModelRow, dimension: string): string {
  if (!isOfVisit(dimension)) return ownValue(row, dimension);
  const visit = model.visits.get(row.session);
  return visit === undefined ? (row.values[dimension] ?? '') : visitValue(visit, dimension);
}
export const visitValue = ({ values }: ModelVisit, dimension: string): string => values[dimension] ?? '';

export function ownValue({ values, name, origin, bot, properties }: ModelRow, dimension: string): string {
  if (dimension === 'event') return name;
  if (dimension === 'origin') return origin;
  if (dimension === 'bot') return bot;
  if (dimension === 'bot_reason') return bot === '' ? '' : BOT_REASON;
  if (!dimension.startsWith('property:')) return values[dimension] ?? '';
  const steps = dimension.slice('property:'.length).split('.');
  const found = steps.reduce<unknown>(
    (value, step) => (value as Record<string, unknown> | undefined)?.[step],
    properties,
  );
  return found === undefined ? '' : String(found);
}
