import type { Answer } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { ScrollBox } from '../ui/scroll-box.tsx';
import { QueryAnswer } from '../ui/states.tsx';

const REFRESH_MS = 5_000;
/** More records than this are a backlog and not the records of this moment. */
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
            <ScrollBox label={t('pipeline.consumers')}>
              <table className="table">
                <thead>
                  <tr>
                    <th scope="col">{t('pipeline.topic')}</th>
                    <th scope="col">{t('pipeline.consumer')}</th>
                    <th scope="col" className="number">
                      {t('pipeline.lag')}
                    </th>
                    <th scope="col" className="number">
                      {t('pipeline.rate')}
                    </th>
                    <th scope="col" className="number">
                      {t('pipeline.dead')}
                    </th>
                    <th scope="col">{t('pipeline.error')}</th>
                  </tr>
                </thead>
                <tbody>
                  {consumers.map((one) => (
                    <tr key={one.topic}>
                      <th scope="row">{one.topic}</th>
                      <td>{one.consumer}</td>
                      <td className="number">{number(one.lag)}</td>
                      <td className="number">{number(one.rate_per_second)}</td>
                      <td className="number">{one.dead_letters === null ? '?' : number(one.dead_letters)}</td>
                      <td className="long" title={one.alarm ?? one.last_error ?? ''}>
                        {one.alarm ?? one.last_error ?? t('none')}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </ScrollBox>
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
      <ScrollBox label={t('pipeline.partitions')}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t('pipeline.topic')}</th>
              <th scope="col" className="number">
                {t('pipeline.partition')}
              </th>
              <th scope="col" className="number">
                {t('pipeline.end')}
              </th>
              <th scope="col" className="number">
                {t('pipeline.committed')}
              </th>
              <th scope="col" className="number">
                {t('pipeline.lag')}
              </th>
              <th scope="col">{t('pipeline.error')}</th>
            </tr>
          </thead>
          <tbody>
            {consumers.flatMap(({ topic, partitions }) =>
              partitions.map((one) => (
                <tr key={`${topic} ${one.partition}`}>
                  <th scope="row">{topic}</th>
                  <td className="number">{one.partition}</td>
                  <td className="number">{number(one.end_offset)}</td>
                  <td className="number">{one.committed_offset === null ? '–' : number(one.committed_offset)}</td>
                  <td className="number">{number(one.lag)}</td>
                  <td className="long">{one.alarm ?? one.last_error ?? t('none')}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </ScrollBox>
    </details>
  );
}
