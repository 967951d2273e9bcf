import { useAdmin } from '../api/use-admin.ts';
import { usePageTitle } from '../app/page-title.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { valueText } from '../reports/dimension-view.ts';
import { ExplainButton } from '../reports/explain-button.tsx';
import { QueryAnswer } from '../ui/states.tsx';
import { LiveEvents } from './live-events-card.tsx';

const REFRESH_MS = { min: 5_000, max: 15_000 };
const LISTS = [
  { field: 'pages', dimension: 'page', title: 'panel.pages' },
  { field: 'sources', dimension: 'source', title: 'panel.sources' },
  { field: 'countries', dimension: 'country', title: 'tab.country' },
] as const;

/** Who is on the site: visitors of the last 30 minutes by minute, their pages, sources and countries, and the newest records. */
export function RealtimePage({ isAdmin }: { readonly isAdmin: boolean }) {
  const texts = useTexts();
  const { t, number } = texts;
  const site = useSite();
  const realtime = useAdmin('realtime', { path: { site_id: site.site_id }, query: { limit: 10 }, refresh: REFRESH_MS });
  usePageTitle(t('nav.realtime'), site.name);
  return (
    <>
      <header className="page-head">
        <h1>{t('nav.realtime')}</h1>
      </header>
      <QueryAnswer query={realtime} lines={8}>
        {(data) => {
          const most = Math.max(1, ...data.minutes.map((minute) => minute.visitors));
          return (
            <>
              <section className="card section" aria-labelledby="now">
                <header className="panel-head">
                  <h2 id="now">{t('realtime.now')}</h2>
                  <ExplainButton id="realtime" query={{}} />
                </header>
                <div className="big-numbers">
                  <p>
                    <b data-testid="now-visitors">{number(data.last_5_minutes.visitors)}</b>{' '}
                    {t('realtime.five', { count: data.last_5_minutes.visitors })}
                  </p>
                  <p>
                    <b>{number(data.last_30_minutes.visitors)}</b>{' '}
                    {t('realtime.thirty', { count: data.last_30_minutes.visitors })}
                  </p>
                  <p>
                    <b>{number(data.last_30_minutes.pageviews)}</b>{' '}
                    {t('realtime.views', { count: data.last_30_minutes.pageviews })}
                  </p>
                </div>
                <div className="minutes" role="img" aria-label={t('realtime.chart')}>
                  {data.minutes.map((minute) => (
                    <span
                      key={minute.start}
                      title={`${texts.time(minute.start, site.timezone, 'clock')}: ${number(minute.visitors)}`}
                      style={{ height: `${(100 * minute.visitors) / most}%` }}
                    />
                  ))}
                </div>
              </section>
              <div className="thirds">
                {LISTS.map(({ field, dimension, title }) => (
                  <section key={field} className="card section" aria-labelledby={`now-${field}`}>
                    <h2 id={`now-${field}`}>{t(title)}</h2>
                    {data[field].length === 0 && (
                      <p className="note">
                        {t(data.last_30_minutes.visitors === 0 ? 'realtime.none' : 'realtime.noValue')}
                      </p>
                    )}
                    <ol className="plain-list">
                      {data[field].map((row) => (
                        <li key={row.value}>
                          <span className="cut" title={valueText(texts, dimension, row.value)}>
                            {valueText(texts, dimension, row.value)}
                          </span>
                          <b>
                            <span aria-hidden="true">{number(row.visitors)}</span>
                            <span className="visually-hidden">{t('funnel.visitors', { count: row.visitors })}</span>
                          </b>
                        </li>
                      ))}
                    </ol>
                  </section>
                ))}
              </div>
            </>
          );
        }}
      </QueryAnswer>
      <LiveEvents siteId={site.site_id} isAdmin={isAdmin} />
    </>
  );
}
