import { useAdmin } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { type Fact, FactsTable } from '../ui/facts-table.tsx';
import { Icon } from '../ui/icon.tsx';
import { QueryAnswer } from '../ui/states.tsx';

/** How Weir finds the client IP of this browser, with advice if the settings of proxies look wrong. */
export function ClientAddress() {
  const { t } = useTexts();
  const whoami = useAdmin('whoami', { refresh: true });
  return (
    <section className="card section" aria-labelledby="client-ip" data-testid="whoami">
      <h2 id="client-ip">{t('address.title')}</h2>
      <p className="note">{t('address.hint')}</p>
      <QueryAnswer query={whoami} lines={4}>
        {(me) => {
          const place = [me.city, me.region, me.country].filter(Boolean).join(', ');
          const facts: readonly Fact[] = [
            [t('address.address'), me.address],
            [
              t('address.foundBy'),
              me.header === null
                ? t('address.connection')
                : t('address.header', { header: me.header, connection: me.connection }),
            ],
            [t('address.place'), place || t(me.country === null ? 'address.noPlace' : 'address.notInData')],
            [
              t('address.geo'),
              me.geo.problem ? `${me.geo.data} (${t('address.refused', { problem: me.geo.problem })})` : me.geo.data,
            ],
            ...Object.entries(me.sent).map(([name, value]): Fact => [t('address.sent', { name }), String(value)]),
          ];
          return (
            <>
              {me.advice.length > 0 && (
                <ul className="warnings">
                  {me.advice.map((text) => (
                    <li key={text}>
                      <Icon name="warning" /> <span>{text}</span>
                    </li>
                  ))}
                </ul>
              )}
              <FactsTable facts={facts} kind="long" />
            </>
          );
        }}
      </QueryAnswer>
    </section>
  );
}
