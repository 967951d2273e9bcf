import type { Model, ModelRow, ModelVisit } from './model-rows.ts';
import { BOT_REASON } from './sent-parts.ts';

const OF_THE_VISIT = ['entry', 'exit', 'source', 'channel', 'referrer'];
/** Dimensions whose breakdown also lists the rows without a value, as the empty text. */
export const LISTS_EMPTY = [
  ...['source', 'channel', 'referrer', 'country', 'region', 'city', 'language'],
  ...['browser', 'browser_version', 'os', 'os_version', 'device'],
];
/** True for the filters that select visitors by their events or pageviews. */
export const isDone = (dimension: string): boolean => dimension === 'done_event' || dimension === 'viewed_page';
/** The values of a row that a filter on `dimension` compares. With `done_event`, a pageview has none; with `viewed_page`, an event has none. */
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

export function ownValue(row: ModelRow, dimension: string): string {
  const { values, name, origin, bot } = row;
  if (dimension === 'event') return name;
  if (dimension === 'origin') return origin;
  if (dimension === 'bot') return bot;
  if (dimension === 'bot_reason') return bot === '' ? '' : BOT_REASON;
  if (!dimension.startsWith('property:')) return values[dimension] ?? '';
  return String(propertyValues(row).get(dimension.slice('property:'.length)) ?? '');
}

/**
 * The custom properties of a row by their paths (docs/properties.md): a dot in a key is a step into an object. Null and empty objects are not stored.
 */
export function propertyValues({ properties }: ModelRow): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  const add = (value: unknown, path: string): void => {
    if (value === null) return;
    if (typeof value !== 'object' || Array.isArray(value)) {
      found.set(path, value);
      return;
    }
    for (const [key, inner] of Object.entries(value)) add(inner, path === '' ? key : `${path}.${key}`);
  };
  add(properties, '');
  return found;
}
