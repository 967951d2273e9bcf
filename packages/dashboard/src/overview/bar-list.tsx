import type { Answer } from '../api/call-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { dimensionText, flagOf, valueText } from '../reports/dimension-view.ts';
import { canFilter } from '../reports/filter-text.ts';
import { formatMetric, type MetricName, metricLabel, numberOf } from '../reports/report-metrics-view.ts';
import { addFilter, type ReportState } from '../reports/report-state.ts';

type Row = Answer<'breakdown'>['rows'][number];

interface Props {
  readonly rows: readonly Row[];
  readonly dimension: string;
  readonly metric: MetricName;
  readonly state: ReportState;
}

/** Values with bars. A click filters all reports by the value, if it is short enough for a filter. */
export function BarList({ rows, dimension, metric, state }: Props) {
  const texts = useTexts();
  const most = Math.max(1, ...rows.map((row) => numberOf(row[metric]) ?? 0));
  return (
    <div className="bars">
      <div className="bars-head" aria-hidden="true">
        <span>{dimensionText(texts, dimension)}</span>
        <span>{texts.t(metricLabel(metric))}</span>
      </div>
      <ol className="bar-list">
        {rows.map((row) => {
          const text = valueText(texts, dimension, row.value);
          const number = formatMetric(texts, metric, row[metric]);
          const content = (
            <>
              <span className="bar" style={{ width: `${(100 * (numberOf(row[metric]) ?? 0)) / most}%` }} />
              <span className="bar-text">
                {dimension === 'country' && <span aria-hidden="true">{flagOf(row.value)} </span>}
                {text}
              </span>
              <span className="bar-number" title={number}>
                {formatMetric(texts, metric, row[metric], true)}
              </span>
            </>
          );
          if (!canFilter(row.value)) {
            return (
              <li key={row.value} className="bar-row" title={text}>
                {content}
              </li>
            );
          }
          return (
            <li key={row.value}>
              <button
                type="button"
                className="bar-row"
                title={text}
                onClick={() => addFilter(state.filters, { dimension, operator: 'is', values: [row.value] })}
              >
                {content}
                <span className="visually-hidden">
                  {texts.t(metricLabel(metric))}. {texts.t('filter.byThis')}
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
