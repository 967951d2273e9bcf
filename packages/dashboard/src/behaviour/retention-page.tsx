import { AdminError } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useLocation } from '../app/location.ts';
import { usePageTitle } from '../app/page-title.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ExplainButton } from '../reports/explain-button.tsx';
import { ReportBar } from '../reports/report-bar.tsx';
import { changeReport, useReportState } from '../reports/report-state.ts';
import { ScrollBox } from '../ui/scroll-box.tsx';
import { Empty, QueryAnswer } from '../ui/states.tsx';

const INTERVALS = ['day', 'week', 'month'] as const;
const INTERVAL_DEFAULT = 'week';

/** New visitors by the day, week or month of their first row, and how many of them came back. */
export function RetentionPage() {
  const { t, number, percent, time } = useTexts();
  const site = useSite();
  const state = useReportState();
  const { query: parameters } = useLocation();
  // The name of this parameter is `cohorts`. The name `interval` belongs to the chart of the overview, and is removed when the period changes.
  const chosen = INTERVALS.find((one) => one === parameters.get('cohorts'));
  const choose = (one: string) => changeReport({ cohorts: one === INTERVAL_DEFAULT ? undefined : one });
  const options = { path: { site_id: site.site_id }, refresh: true, keep: true } as const;
  const first = useAdmin('cohorts', { ...options, query: { ...state.query, interval: chosen ?? INTERVAL_DEFAULT } });
  // Weir refuses a period of more than 60 weeks. The page does not know how long "All time" is, so it asks for months after the refusal.
  const isLong = chosen === undefined && first.error instanceof AdminError && first.error.status === 400;
  const months = useAdmin('cohorts', { ...options, query: { ...state.query, interval: 'month' }, enabled: isLong });
  const [cohorts, interval] = isLong ? [months, 'month' as const] : [first, chosen ?? INTERVAL_DEFAULT];
  usePageTitle(t('nav.retention'), site.name);
  return (
    <>
      <h1 className="visually-hidden">{t('nav.retention')}</h1>
      <ReportBar state={state} withCompare={false} />
      <section className="card section" aria-labelledby="cohorts" data-testid="cohorts">
        <header className="panel-head">
          <h2 id="cohorts">{t('nav.retention')}</h2>
          <ExplainButton id="cohorts" query={{ ...state.query, interval }} />
        </header>
        <p className="note">{t('retention.hint')}</p>
        <label className="narrow">
          {t('retention.interval')}
          <select value={interval} onChange={(event) => choose(event.target.value)}>
            {INTERVALS.slice(isLong ? -1 : 0).map((one) => (
              <option key={one} value={one}>
                {t(`interval.${one}`)}
              </option>
            ))}
          </select>
        </label>
        <QueryAnswer query={cohorts} queryKey={['cohorts']} lines={6}>
          {(data) => {
            const shown = data.cohorts.filter((cohort) => cohort.visitors > 0);
            const columns = Math.max(0, ...shown.map((cohort) => cohort.rates.length));
            if (shown.length === 0) return <Empty title={t('panel.empty')} />;
            return (
              <ScrollBox label={t('nav.retention')}>
                <table className={cohorts.isPlaceholderData ? 'table cohorts old' : 'table cohorts'}>
                  <thead>
                    <tr>
                      <th scope="col">{t('retention.since')}</th>
                      <th scope="col" className="number">
                        {t('retention.new')}
                      </th>
                      {Array.from({ length: columns }, (_, index) => (
                        // biome-ignore lint/suspicious/noArrayIndexKey: a column is its number
                        <th key={index} scope="col" className="number">
                          +{index + 1}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {shown.map((cohort) => (
                      <tr key={cohort.start}>
                        <th scope="row">
                          {time(cohort.start, data.timezone, data.interval === 'month' ? 'month' : 'week')}
                        </th>
                        <td className="number">{number(cohort.visitors)}</td>
                        {cohort.rates.map((rate, index) => (
                          // biome-ignore lint/suspicious/noArrayIndexKey: a column is its number
                          <td key={index} className="number heat" title={number(cohort.returned[index] ?? 0)}>
                            <i style={{ opacity: Math.min(1, (rate ?? 0) * 1.5) }} />
                            <span>{rate === null ? '–' : percent(rate)}</span>
                          </td>
                        ))}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </ScrollBox>
            );
          }}
        </QueryAnswer>
      </section>
    </>
  );
}
