import type { QueryOf } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { isDone, valuesDimension, valueText } from '../reports/dimension-view.ts';
import { canFilter } from '../reports/filter-text.ts';
import type { ReportState } from '../reports/report-state.ts';
import { isFound, searchOf } from './named-values.ts';

const VALUES_MAX = 30;

interface ValuesProps {
  readonly dimension: string;
  readonly state: ReportState;
  /** The text that the reader has typed. Values that contain it, in their name or in their code, are offered. */
  readonly word: string;
  readonly enabled?: boolean;
}
interface Props extends ValuesProps {
  /** The ID that the attribute `list` of an input names. */
  readonly id: string;
}

/**
 * The values of a dimension that occur in the period. If the page shows the values as they are, the server returns only those that contain the typed
 * text. If the page shows names instead, such as names of countries, the server cannot search them and returns all values. The filters of the page
 * limit the values, except for a filter on what a visitor has done.
 */
export function useValues({ dimension: name, state, word, enabled = true }: ValuesProps): readonly string[] {
  const { site_id } = useSite();
  const dimension = valuesDimension(name);
  const filters = isDone(name) ? [] : (state.query.filter ?? []);
  const search = searchOf(dimension, word, VALUES_MAX);
  const query = {
    ...state.query,
    dimension,
    limit: search.limit,
    filter: [...filters, ...search.filter],
  } as QueryOf<'breakdown'>;
  const found = useAdmin('breakdown', { path: { site_id }, query, keep: true, enabled });
  return found.data?.rows.map(({ value }) => value) ?? [];
}

/** Offers values of a dimension that occur in the period, for an input. */
export function ValueOptions({ id, ...asked }: Props) {
  const texts = useTexts();
  const { dimension, word } = asked;
  const values = useValues(asked).filter((value) => canFilter(value) && isFound(texts, dimension, value, word));
  return (
    <datalist id={id}>
      {values.slice(0, VALUES_MAX).map((value) => (
        <option key={value} value={value}>
          {valueText(texts, dimension, value)}
        </option>
      ))}
    </datalist>
  );
}
