import { useEffect, useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { useLocation } from '../app/location.ts';
import { usePageTitle } from '../app/page-title.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { pathText } from '../reports/dimension-view.ts';
import { ExplainButton } from '../reports/explain-button.tsx';
import { canFilter } from '../reports/filter-text.ts';
import { ReportBar } from '../reports/report-bar.tsx';
import { changeReport, useReportState } from '../reports/report-state.ts';
import { ActionInput } from '../suggest/action-input.tsx';
import { Form } from '../ui/form.tsx';
import { QueryAnswer } from '../ui/states.tsx';

const SIDES = ['previous', 'next'] as const;

/** The pages that visits viewed before and after a page. A click on one of them shows its own journeys. */
export function JourneysPage() {
  const { t, number } = useTexts();
  const site = useSite();
  const state = useReportState();
  const { query: parameters } = useLocation();
  const page = parameters.get('page') || '/';
  const [text, setText] = useState(page);
  useEffect(() => setText(page), [page]);
  const journeys = useAdmin('journeys', {
    path: { site_id: site.site_id },
    query: { ...state.query, path: page, limit: 12 },
    refresh: true,
    keep: true,
  });
  usePageTitle(t('nav.journeys'), site.name);
  return (
    <>
      <h1 className="visually-hidden">{t('nav.journeys')}</h1>
      <ReportBar state={state} withCompare={false} />
      <Form className="inline-form" onSubmit={() => changeReport({ page: text.trim() })}>
        <label htmlFor="journeys-page">
          {t('dimension.page')}
          <ActionInput
            id="journeys-page"
            required
            kind="page"
            maxLength={1024}
            value={text}
            state={state}
            onType={setText}
          />
        </label>
        <button type="submit" className="button primary">
          {t('show')}
        </button>
      </Form>
      <QueryAnswer query={journeys} queryKey={['journeys']} lines={8}>
        {(data) => (
          <div className={journeys.isPlaceholderData ? 'old' : undefined}>
            <div className="panel-head">
              <p>
                {t('journeys.count', {
                  views: t('journeys.views', { count: data.views }),
                  visits: t('journeys.visits', { count: data.visits }),
                  page: pathText(data.path),
                })}
              </p>
              <ExplainButton id="journeys" query={{ ...state.query, path: page }} />
            </div>
            <div className="panels">
              {SIDES.map((side) => (
                <section key={side} className="card section" aria-labelledby={side} data-testid={side}>
                  <h2 id={side}>{t(`journeys.${side}`)}</h2>
                  {data[side].length === 0 && <p className="note">{t('panel.empty')}</p>}
                  <ol className="bar-list">
                    {data[side].map((row) => (
                      <li key={row.value}>
                        <button
                          type="button"
                          className="bar-row"
                          disabled={row.value === '' || !canFilter(row.value)}
                          onClick={() => changeReport({ page: row.value })}
                        >
                          <span
                            className="bar"
                            style={{ width: `${(100 * row.views) / Math.max(1, data[side][0]?.views ?? 1)}%` }}
                          />
                          <span className="bar-text" title={pathText(row.value)}>
                            {pathText(row.value) || t(side === 'previous' ? 'journeys.began' : 'journeys.ended')}
                          </span>
                          <span className="bar-number" aria-hidden="true">
                            {number(row.views)}
                          </span>
                          <span className="visually-hidden">{t('journeys.views', { count: row.views })}</span>
                        </button>
                      </li>
                    ))}
                  </ol>
                </section>
              ))}
            </div>
          </div>
        )}
      </QueryAnswer>
    </>
  );
}
