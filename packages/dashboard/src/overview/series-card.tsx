import type { Answer } from '../api/call-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ReportMenu } from '../reports/report-menu.tsx';
import { formatMetric, metricLabel } from '../reports/report-metrics-view.ts';
import { changeReport, INTERVALS, type ReportState } from '../reports/report-state.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { SeriesChart } from './series-chart.tsx';

interface Props {
  readonly data: Answer<'stats'>;
  readonly state: ReportState;
  readonly isOld: boolean;
}

/** The course of the selected number, with the earlier period as a dashed line, and the same as a table for screen readers. */
export function SeriesCard({ data, state, isOld }: Props) {
  const texts = useTexts();
  const { timezone } = useSite();
  const { metric } = state;
  const detail = data.interval as (typeof INTERVALS)[number];
  return (
    <div className={isOld ? 'series-body old' : 'series-body'}>
      <div className="series-tools">
        <Menu
          bare={false}
          label={texts.t(`interval.${detail}`)}
          name={texts.t('interval.name', { interval: texts.t(`interval.${detail}`) })}
          className="small"
        >
          {INTERVALS.map((one) => (
            <MenuItem key={one} isChecked={one === data.interval} onSelect={() => changeReport({ interval: one })}>
              {texts.t(`interval.${one}`)}
            </MenuItem>
          ))}
          {state.interval && (
            <MenuItem onSelect={() => changeReport({ interval: undefined })}>{texts.t('interval.automatic')}</MenuItem>
          )}
        </Menu>
        <ReportMenu report={{ id: 'stats', state }} />
      </div>
      <SeriesChart data={data} metric={metric} zone={timezone} />
      <table className="visually-hidden">
        <caption>{texts.t(metricLabel(metric))}</caption>
        <tbody>
          {data.buckets.map((bucket) => (
            <tr key={bucket.start}>
              <th scope="row">{texts.time(bucket.start, timezone, detail)}</th>
              <td>{formatMetric(texts, metric, bucket[metric])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
