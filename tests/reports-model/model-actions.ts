import fc from 'fast-check';
import { isInternal, type Model, type ModelRow } from './model-rows.ts';
import { matchesGlob, spelled } from './model-select.ts';
import { ASKED_PATHS, EVENT_NAMES } from './sent-parts.ts';

/** A goal, or a step of a funnel: events with this name, or pageviews of the pages that this glob matches. */
export interface Action {
  readonly type: 'event' | 'page';
  readonly value: string;
}

export function isOfAction({ name, values }: ModelRow, { type, value }: Action): boolean {
  return type === 'event'
    ? name === value
    : name === '' && spelled('page', value).some((glob) => matchesGlob(glob, values.page ?? ''));
}

/** How an action is made from a row. */
export interface ActionForm {
  /** The part of the page that the glob has as it is. */
  readonly cut: 'whole' | 'start' | 'end' | 'inner' | 'all';
  /** Not null: the action does not come from the row, and the history may have no row for it. */
  readonly other: number | null;
}

export const actionForm: fc.Arbitrary<ActionForm> = fc.record({
  cut: fc.constantFrom('whole', 'whole', 'start', 'end', 'inner', 'all'),
  other: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat() }),
});

/** The action that a row is. Without a row, it is one of `OTHERS`. */
export function actionOf(row: ModelRow | undefined, { cut, other }: ActionForm): Action {
  if (row === undefined || other !== null) return OTHERS[(other ?? 0) % OTHERS.length] as Action;
  if (row.name !== '') return { type: 'event', value: row.name };
  const page = row.values.page ?? '';
  switch (cut) {
    case 'start':
      return { type: 'page', value: `${page.slice(0, 4)}*` };
    case 'end':
      return { type: 'page', value: `*${page.slice(-2)}` };
    case 'inner':
      return { type: 'page', value: `/*${page.slice(2, 4)}*` };
    case 'all':
      return { type: 'page', value: '*' };
    default:
      return { type: 'page', value: page };
  }
}

const OTHERS: readonly Action[] = [
  ...EVENT_NAMES.filter((name) => !name.startsWith('$')).map((value): Action => ({ type: 'event', value })),
  ...[...ASKED_PATHS, '/*/*', '/docs/*/b', '/d*s/a*', '/docs/..b', '/unknown', '/*ü*'].map(
    (value): Action => ({ type: 'page', value }),
  ),
];

/** The rows of a history that can be conversions or steps. */
export function actingRows({ rows }: Model): readonly ModelRow[] {
  return rows.filter((row) => !isInternal(row) && (row.name !== '' || row.values.page !== ''));
}
