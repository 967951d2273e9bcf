import type { Answer } from '../api/call-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';

/** The last payments of a person. Nothing is shown if there is none. */
export function PersonPayments({ payments }: Pick<Answer<'readTimeline'>, 'payments'>) {
  const { t, time, money } = useTexts();
  const { timezone } = useSite();
  if (payments.length === 0) return null;
  return (
    <section className="card section" aria-labelledby="person-payments" data-testid="payments">
      <h2 id="person-payments">{t('person.payments')}</h2>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t('person.time')}</th>
            <th scope="col">{t('step.event')}</th>
            <th scope="col" className="number">
              {t('person.amount')}
            </th>
          </tr>
        </thead>
        <tbody>
          {payments.map((one) => (
            <tr key={one.event_id}>
              <td>{time(one.timestamp, timezone, 'week')}</td>
              <th scope="row" className="long">
                {one.event_name}
              </th>
              <td className="number">{money(one.amount, one.currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
