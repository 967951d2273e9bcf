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

/** The filters of the page, which limit the values. None for `done_event` and `viewed_page`: these select visitors by what they have done. */
const filtersFor = ({ dimension, state }: ValuesProps): readonly string[] =>
  isDone(dimension) ? [] : (state.query.filter ?? []);

/**
 * The values of a dimension that occur in the period. If the page shows the values as they are, the server returns only those that contain the typed
 * text. If the page shows names instead, such as names of countries, the server cannot search them and returns all values.
 */
export function useValues(asked: ValuesProps) {
  const { dimension: name, state, word, enabled = true } = asked;
  const { site_id } = useSite();
  const dimension = valuesDimension(name);
  const query = {
    ...state.query,
    dimension,
    ...searchOf(dimension, word, VALUES_MAX, filtersFor(asked)),
  } as QueryOf<'breakdown'>;
  const answer = useAdmin('breakdown', { path: { site_id }, query, keep: true, enabled });
  const { data, error, isPlaceholderData } = answer;
  return {
    values: data?.rows.map(({ value }) => value) ?? [],
    /** Whether the values are those of an earlier search, or empty, because this search has no answer yet. */
    isWaiting: isPlaceholderData || (data === undefined && error === null),
    /** Why the values of this search are not known. */
    error: data === undefined ? error : null,
    retry: () => void answer.refetch(),
  };
}

/** Offers values of a dimension that occur in the period, for an input. */
export function ValueOptions({ id, ...asked }: Props) {
  const texts = useTexts();
  const { dimension, word } = asked;
  const values = useValues(asked).values.filter(
    (value) => canFilter(value) && isFound(texts, dimension, value, word, filtersFor(asked)),
  );
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
