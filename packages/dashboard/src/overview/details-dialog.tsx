import { useDeferredValue, useState } from 'react';
import type { QueryOf } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { dimensionText, valueText } from '../reports/dimension-view.ts';
import { canFilter } from '../reports/filter-text.ts';
import { formatMetric, METRICS, type MetricName, metricLabel } from '../reports/report-metrics-view.ts';
import { breakdownQuery } from '../reports/report-request-view.ts';
import { addFilter, type ReportState } from '../reports/report-state.ts';
import { isFound, searchOf } from '../suggest/named-values.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { PAGES_MAX, Pager } from '../ui/pager.tsx';
import { ScrollBox } from '../ui/scroll-box.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, QueryAnswer } from '../ui/states.tsx';
import type { PanelTab } from './panel-list.ts';

const ROWS = 100;

interface Props {
  readonly tab: PanelTab;
  readonly dimension: string;
  readonly state: ReportState;
  readonly onClose: () => void;
}

/** A table of the values of a dimension with all metrics. The server searches and orders the values, and returns one page at a time. */
export function DetailsDialog({ tab, dimension, state, onClose }: Props) {
  const texts = useTexts();
  const { t } = texts;
  const { site_id } = useSite();
  const [search, setSearch] = useState('');
  const word = useDeferredValue(search.trim());
  const [page, setPage] = useState(1);
  const [order, setOrder] = useState<{ metric: MetricName; isDescending: boolean }>({
    metric: tab.metric,
    isDescending: true,
  });
  const filters = state.query.filter ?? [];
  const { filter, limit } = searchOf(dimension, word, ROWS, filters);
  const query = {
    ...breakdownQuery(state, tab, dimension),
    ...(filter.length > 0 && { filter }),
    order: `${order.metric}:${order.isDescending ? 'desc' : 'asc'}`,
    limit,
    page,
  } as QueryOf<'breakdown'>;
  const answer = useAdmin('breakdown', { path: { site_id }, query, keep: true });
  const sort = (metric: MetricName) => {
    setPage(1);
    setOrder({ metric, isDescending: order.metric === metric ? !order.isDescending : true });
  };
  return (
    <Dialog wide title={dimensionText(texts, dimension)} onClose={onClose}>
      <SearchField
        label={t('search')}
        value={search}
        onSearch={(text) => {
          setPage(1);
          setSearch(text);
        }}
      />
      <QueryAnswer query={answer} queryKey={['breakdown', { site_id }, query]} lines={10}>
        {(data) => {
          const rows = data.rows.filter(({ value }) => isFound(texts, dimension, value, word, filters));
          return (
            <>
              {rows.length === 0 && <Empty title={t('nothing')} />}
              <ScrollBox label={dimensionText(texts, dimension)}>
                <table className={answer.isPlaceholderData ? 'table old' : 'table'}>
                  <thead>
                    <tr>
                      <th scope="col">{dimensionText(texts, dimension)}</th>
                      {METRICS.map((name) => (
                        <th
                          key={name}
                          scope="col"
                          className="number"
                          aria-sort={order.metric !== name ? 'none' : order.isDescending ? 'descending' : 'ascending'}
                        >
                          <button type="button" className="sort" onClick={() => sort(name)}>
                            {t(metricLabel(name))}
                            {order.metric === name && <Icon name={order.isDescending ? 'down' : 'up'} size={12} />}
                          </button>
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {rows.map((row) => (
                      <tr key={row.value}>
                        <th scope="row" className="long" title={row.value}>
                          {canFilter(row.value) ? (
                            <button
                              type="button"
                              className="link"
                              onClick={() => {
                                addFilter(state.filters, { dimension, operator: 'is', values: [row.value] });
                                onClose();
                              }}
                            >
                              {valueText(texts, dimension, row.value)}
                            </button>
                          ) : (
                            valueText(texts, dimension, row.value)
                          )}
                        </th>
                        {METRICS.map((name) => (
                          <td key={name} className="number">
                            {formatMetric(texts, name, row[name])}
                          </td>
                        ))}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </ScrollBox>
              <Pager page={page} hasMore={data.has_more} onPage={setPage} />
              {data.has_more && page === PAGES_MAX && (
                <p className="note">{t('details.end', { count: texts.number(ROWS * PAGES_MAX) })}</p>
              )}
            </>
          );
        }}
      </QueryAnswer>
    </Dialog>
  );
}
