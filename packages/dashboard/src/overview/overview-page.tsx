import { useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { usePageTitle } from '../app/page-title.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ReportBar } from '../reports/report-bar.tsx';
import { statsQuery } from '../reports/report-request-view.ts';
import { useReportState } from '../reports/report-state.ts';
import { QueryAnswer } from '../ui/states.tsx';
import { FirstHit, hasRows } from './first-hit.tsx';
import { IntervalMenu } from './interval-menu.tsx';
import { MetricTiles } from './metric-tiles.tsx';
import { Panel } from './panel.tsx';
import { PANELS } from './panel-list.ts';
import { SeriesCard } from './series-card.tsx';

/** The reports of one site: totals, a chart over time, and lists of values. A click on a value filters the reports. */
export function OverviewPage() {
  const { t } = useTexts();
  const site = useSite();
  const state = useReportState();
  usePageTitle(site.name);
  const path = { site_id: site.site_id };
  const stats = useAdmin('stats', { path, query: statsQuery(state), refresh: true, first: true, keep: true });
  const [isNew, setNew] = useState(false);
  const isEmpty = stats.data !== undefined && !hasRows(stats.data);
  const [isKnown, setKnown] = useState(false);
  if (!isKnown && stats.data !== undefined && !isEmpty) setKnown(true);
  return (
    <>
      <h1 className="visually-hidden">{t('overview.title', { site: site.name })}</h1>
      <ReportBar state={state} />
      {isEmpty && !isKnown && state.filters.length === 0 && <FirstHit onChange={setNew} />}
      {!isNew && (
        <>
          <section className="card series" aria-label={t('numbers')}>
            {stats.data === undefined && stats.error !== null && (
              <div className="series-tools">
                <IntervalMenu state={state} shown={state.interval} />
              </div>
            )}
            <QueryAnswer query={stats} queryKey={['stats']} lines={8}>
              {(data) => (
                <>
                  <MetricTiles data={data} metric={state.metric} isOld={stats.isPlaceholderData} />
                  <SeriesCard data={data} state={state} isOld={stats.isPlaceholderData} />
                </>
              )}
            </QueryAnswer>
          </section>
          <div className="panels">
            {PANELS.map((panel) => (
              <Panel key={panel.id} panel={panel} state={state} />
            ))}
          </div>
        </>
      )}
    </>
  );
}
