import type { Answer } from '../api/call-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { DataTable } from '../ui/data-table.tsx';

/** The last payments of a person. Nothing is shown if there is none. */
export function PersonPayments({ payments }: Pick<Answer<'readTimeline'>, 'payments'>) {
  const { t, time, money } = useTexts();
  const { timezone } = useSite();
  if (payments.length === 0) return null;
  return (
    <section className="card section" aria-labelledby="person-payments" data-testid="payments">
      <h2 id="person-payments">{t('person.payments')}</h2>
      <DataTable
        label={t('person.payments')}
        rows={payments}
        keyOf={({ event_id }) => event_id}
        columns={[
          { title: t('person.time'), cell: (one) => time(one.timestamp, timezone, 'week') },
          { title: t('step.event'), kind: 'name', fit: 'long', cell: (one) => one.event_name },
          { title: t('person.amount'), kind: 'number', cell: (one) => money(one.amount, one.currency) },
        ]}
      />
    </section>
  );
}
