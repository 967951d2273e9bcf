import type { QueryOf } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { valueText } from '../reports/dimension-view.ts';
import { canFilter, formatFilter } from '../reports/filter-text.ts';
import type { ReportState } from '../reports/report-state.ts';

const VALUES_MAX = 30;

interface Props {
  /** The ID that the attribute `list` of an input names. */
  readonly id: string;
  readonly dimension: string;
  readonly state: ReportState;
  /** The text that the reader has typed. Values that contain it are offered. */
  readonly word: string;
  readonly enabled?: boolean;
}

/** Offers values of a dimension that occur in the period, for an input. */
export function ValueOptions({ id, dimension, state, word, enabled = true }: Props) {
  const texts = useTexts();
  const { site_id } = useSite();
  const containing = word === '' ? [] : [formatFilter({ dimension, operator: 'contains', values: [word] })];
  const query = {
    ...state.query,
    dimension,
    limit: VALUES_MAX,
    filter: [...(state.query.filter ?? []), ...containing],
  } as QueryOf<'breakdown'>;
  const found = useAdmin('breakdown', { path: { site_id }, query, keep: true, enabled });
  return (
    <datalist id={id}>
      {found.data?.rows
        .filter((row) => canFilter(row.value))
        .map((row) => (
          <option key={row.value} value={row.value}>
            {valueText(texts, dimension, row.value)}
          </option>
        ))}
    </datalist>
  );
}
