import { useAdmin } from '../api/use-admin.ts';
import { outcomeText } from '../i18n/outcome-text.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Icon } from '../ui/icon.tsx';
import { QueryAnswer } from '../ui/states.tsx';

const REFRESH_MS = 60_000;

/** The records of the last hour by minute and outcome. A minute is marked if the table `books_sums` has other numbers than the table `records`. */
export function MinuteBooks() {
  const texts = useTexts();
  const { t, number, time } = texts;
  const books = useAdmin('listMinuteBooks', { refresh: REFRESH_MS });
  return (
    <QueryAnswer query={books} lines={4}>
      {({ balanced, minutes }) => {
        const most = Math.max(1, ...minutes.map(({ received }) => received));
        const filled = minutes.filter(({ received, balanced: isRight }) => received > 0 || !isRight).toReversed();
        return (
          <>
            <h3>{t('minutes.title')}</h3>
            {!balanced && (
              <p role="alert" className="state stuck">
                <Icon name="warning" size={16} /> {t('minutes.unbalanced')}
              </p>
            )}
            <div className="minutes" role="img" aria-label={t('minutes.chart')}>
              {minutes.map((minute) => (
                <span
                  key={minute.minute}
                  className={minute.balanced ? undefined : 'wrong'}
                  title={`${time(minute.minute, undefined, 'clock')}: ${number(minute.received)}`}
                  style={{ height: `${(100 * minute.received) / most}%` }}
                />
              ))}
            </div>
            {filled.length === 0 ? (
              <p className="note">{t('minutes.none')}</p>
            ) : (
              <details data-testid="minutes">
                <summary>{t('minutes.details')}</summary>
                <DataTable
                  label={t('minutes.title')}
                  rows={filled}
                  keyOf={({ minute }) => minute}
                  columns={[
                    {
                      title: t('minutes.minute'),
                      kind: 'name',
                      fit: 'whole',
                      cell: ({ minute }) => time(minute, undefined, 'clock'),
                    },
                    { title: t('books.received'), kind: 'number', cell: ({ received }) => number(received) },
                    {
                      title: t('minutes.outcomes'),
                      cell: ({ outcomes }) =>
                        Object.entries(outcomes).map(([outcome, records], index) => (
                          <span key={outcome} title={outcome}>
                            {index > 0 && ', '}
                            {outcomeText(texts, outcome)} {number(Number(records))}
                          </span>
                        )),
                    },
                    {
                      title: t('minutes.state'),
                      cell: (minute) => t(minute.balanced ? 'minutes.right' : 'minutes.wrong'),
                    },
                  ]}
                />
              </details>
            )}
          </>
        );
      }}
    </QueryAnswer>
  );
}
