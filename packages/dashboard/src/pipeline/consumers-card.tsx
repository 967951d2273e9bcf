import type { Answer } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { QueryAnswer } from '../ui/states.tsx';

const REFRESH_MS = 5_000;
/** If the sum of all lags is higher, the card shows the state "behind". A lower lag is normal while records arrive. */
const BACKLOG_RECORDS = 10_000;

/** Lag, rate and errors of each consumer, and of its partitions. */
export function ConsumersCard() {
  const { t, number } = useTexts();
  const pipeline = useAdmin('pipeline', { refresh: REFRESH_MS });
  return (
    <section className="card section" aria-labelledby="consumers" data-testid="consumers">
      <h2 id="consumers">{t('pipeline.consumers')}</h2>
      <QueryAnswer query={pipeline} lines={3}>
        {(consumers) => (
          <>
            <p role="status" className={`state ${healthOf(consumers)}`}>
              {t(`pipeline.${healthOf(consumers)}`)}
            </p>
            {consumers.some((one) => one.dead_letters === null) && (
              <p role="status" className="state stuck">
                {t('pipeline.noAnalytics')}
              </p>
            )}
            <DataTable
              label={t('pipeline.consumers')}
              rows={consumers}
              keyOf={({ topic }) => topic}
              columns={[
                { title: t('pipeline.topic'), kind: 'name', cell: (one) => one.topic },
                { title: t('pipeline.consumer'), cell: (one) => one.consumer },
                { title: t('pipeline.lag'), kind: 'number', cell: (one) => number(one.lag) },
                { title: t('pipeline.rate'), kind: 'number', cell: (one) => number(one.rate_per_second) },
                {
                  title: t('pipeline.dead'),
                  kind: 'number',
                  cell: (one) => (one.dead_letters === null ? '?' : number(one.dead_letters)),
                },
                {
                  title: t('pipeline.error'),
                  fit: 'long',
                  hint: (one) => one.alarm ?? one.last_error ?? '',
                  cell: (one) => one.alarm ?? one.last_error ?? t('none'),
                },
              ]}
            />
            <Partitions consumers={consumers} />
          </>
        )}
      </QueryAnswer>
    </section>
  );
}

function healthOf(consumers: Answer<'pipeline'>): 'stuck' | 'behind' | 'live' {
  if (consumers.some((one) => one.alarm !== null || one.last_error !== null)) return 'stuck';
  return consumers.reduce((sum, one) => sum + one.lag, 0) > BACKLOG_RECORDS ? 'behind' : 'live';
}

function Partitions({ consumers }: { readonly consumers: Answer<'pipeline'> }) {
  const { t, number } = useTexts();
  return (
    <details>
      <summary>{t('pipeline.partitions')}</summary>
      <DataTable
        label={t('pipeline.partitions')}
        rows={consumers.flatMap(({ topic, partitions }) => partitions.map((one) => ({ ...one, topic })))}
        keyOf={({ topic, partition }) => `${topic} ${partition}`}
        columns={[
          { title: t('pipeline.topic'), kind: 'name', cell: (one) => one.topic },
          { title: t('pipeline.partition'), kind: 'number', cell: (one) => one.partition },
          { title: t('pipeline.end'), kind: 'number', cell: (one) => number(one.end_offset) },
          {
            title: t('pipeline.committed'),
            kind: 'number',
            cell: (one) => (one.committed_offset === null ? '–' : number(one.committed_offset)),
          },
          { title: t('pipeline.lag'), kind: 'number', cell: (one) => number(one.lag) },
          { title: t('pipeline.error'), fit: 'long', cell: (one) => one.alarm ?? one.last_error ?? t('none') },
        ]}
      />
    </details>
  );
}
