import { useRef, useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { late } from '../app/late.tsx';
import { useSession } from '../app/session.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ReportMenu } from '../reports/report-menu.tsx';
import { formatMetric, metricLabel } from '../reports/report-metrics-view.ts';
import type { INTERVALS, ReportState } from '../reports/report-state.ts';
import { Icon } from '../ui/icon.tsx';
import { Problem } from '../ui/states.tsx';
import { type Annotation, annotationsOf } from './annotations-view.ts';
import { IntervalMenu } from './interval-menu.tsx';
import { SeriesChart } from './series-chart.tsx';

const AnnotationDialog = late(async () => (await import('./annotation-dialog.tsx')).AnnotationDialog);

interface Props {
  readonly data: Answer<'stats'>;
  readonly state: ReportState;
  readonly isOld: boolean;
}

/** A chart of the selected number over time, and a list of the annotations. Screen readers get a table instead of the chart. */
export function SeriesCard({ data, state, isOld }: Props) {
  const texts = useTexts();
  const { t } = texts;
  const { site_id } = useSite();
  const isAdmin = useSession().data?.role === 'admin';
  const annotations = useAdmin('listAnnotations', { path: { site_id } });
  const [edited, setEdited] = useState<Annotation | 'new'>();
  const addButton = useRef<HTMLButtonElement>(null);
  const { metric } = state;
  const { timezone } = data;
  const detail = data.interval as (typeof INTERVALS)[number];
  const notes = annotationsOf(annotations.data ?? [], data.buckets);
  return (
    <div className={isOld ? 'series-body old' : 'series-body'}>
      <div className="series-tools">
        {isAdmin && (
          <button ref={addButton} type="button" className="button small" onClick={() => setEdited('new')}>
            <Icon name="plus" size={14} /> {t('annotation.add')}
          </button>
        )}
        <IntervalMenu state={state} shown={detail} />
        <ReportMenu report={{ id: 'stats', state }} />
      </div>
      <SeriesChart data={data} metric={metric} zone={timezone} notes={notes} />
      {annotations.error && (
        <Problem error={annotations.error} onRetry={() => void annotations.refetch()}>
          {t('annotation.failed')}
        </Problem>
      )}
      {notes.length > 0 && (
        <ul className="notes" aria-label={t('annotation.title')}>
          {notes.map(({ annotation }) => (
            <li key={annotation.annotation_id}>
              {isAdmin ? (
                <button
                  type="button"
                  className="chart-note"
                  title={t('annotation.edit')}
                  onClick={() => setEdited(annotation)}
                >
                  <b>{texts.time(annotation.at, timezone, 'week')}</b> <span>{annotation.text}</span>
                </button>
              ) : (
                <span className="chart-note">
                  <b>{texts.time(annotation.at, timezone, 'week')}</b> <span>{annotation.text}</span>
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      <table className="visually-hidden">
        <caption>{t(metricLabel(metric))}</caption>
        <tbody>
          {data.buckets.map((bucket, index) => {
            const before = data.comparison?.buckets[index];
            return (
              <tr key={bucket.start}>
                <th scope="row">{texts.time(bucket.start, timezone, detail)}</th>
                <td>{formatMetric(texts, metric, bucket[metric])}</td>
                {before && (
                  <td>
                    {texts.time(before.start, timezone, detail)}: {formatMetric(texts, metric, before[metric])}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
      {edited !== undefined && (
        <AnnotationDialog
          annotation={edited === 'new' ? undefined : edited}
          end={data.to}
          addButton={addButton}
          onClose={() => setEdited(undefined)}
        />
      )}
    </div>
  );
}
