import type { QueryOf } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { valueText } from '../reports/dimension-view.ts';
import { canFilter } from '../reports/filter-text.ts';
import type { ReportState } from '../reports/report-state.ts';
import { isFound, searchOf } from './named-values.ts';

const VALUES_MAX = 30;

interface Props {
  /** The ID that the attribute `list` of an input names. */
  readonly id: string;
  readonly dimension: string;
  readonly state: ReportState;
  /** The text that the reader has typed. Values that contain it, in their name or in their code, are offered. */
  readonly word: string;
  readonly enabled?: boolean;
}

/** Offers values of a dimension that occur in the period, for an input. */
export function ValueOptions({ id, dimension, state, word, enabled = true }: Props) {
  const texts = useTexts();
  const { site_id } = useSite();
  const search = searchOf(dimension, word, VALUES_MAX);
  const query = {
    ...state.query,
    dimension,
    limit: search.limit,
    filter: [...(state.query.filter ?? []), ...search.filter],
  } as QueryOf<'breakdown'>;
  const found = useAdmin('breakdown', { path: { site_id }, query, keep: true, enabled });
  const rows = found.data?.rows.filter(({ value }) => canFilter(value) && isFound(texts, dimension, value, word)) ?? [];
  return (
    <datalist id={id}>
      {rows.slice(0, VALUES_MAX).map((row) => (
        <option key={row.value} value={row.value}>
          {valueText(texts, dimension, row.value)}
        </option>
      ))}
    </datalist>
  );
}
