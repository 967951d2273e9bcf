import type { Answer } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import type { Formats } from '../i18n/formats.ts';
import { type TextKey, useTexts } from '../i18n/text-context.tsx';
import { type Fact, FactsTable } from '../ui/facts-table.tsx';
import { Icon } from '../ui/icon.tsx';
import { QueryAnswer } from '../ui/states.tsx';
import { MinuteBooks } from './minute-books.tsx';

const REFRESH_MS = 60_000;
type Totals = Answer<'audit'>['totals'];

const sumOf = (reasons: Readonly<Record<string, unknown>>): number =>
  Object.values(reasons).reduce<number>((sum, records) => sum + Number(records), 0);

/** The audit checks that each received record has exactly one outcome (docs/glossary.md), or is still being processed. */
export function BooksCard() {
  const { t, number } = useTexts();
  const audit = useAdmin('audit', { refresh: REFRESH_MS });
  return (
    <section className="card section" aria-labelledby="books" data-testid="books">
      <h2 id="books">{t('books.title')}</h2>
      <p className="note">{t('books.hint')}</p>
      <QueryAnswer query={audit} lines={6}>
        {({ balanced, totals }) => (
          <>
            <p role="status" className={balanced ? 'state live' : 'state stuck'}>
              <Icon name={balanced ? 'check' : 'warning'} size={16} />{' '}
              {t(balanced ? 'books.balanced' : 'books.unbalanced')}
            </p>
            <FactsTable
              kind="number"
              facts={[
                [t('books.received'), number(totals.received)],
                ...outcomesOf(totals, number).map(([label, records, reasons]): Fact => {
                  const heading = (
                    <>
                      {t(label)} {reasons && <span className="muted">{reasons}</span>}
                    </>
                  );
                  return [label, number(records), heading];
                }),
              ]}
            />
          </>
        )}
      </QueryAnswer>
      <MinuteBooks />
    </section>
  );
}

function outcomesOf(totals: Totals, number: Formats['number']): readonly (readonly [TextKey, number, string?])[] {
  const reasons = (of: Readonly<Record<string, unknown>>): string =>
    Object.entries(of)
      .map(([reason, records]) => `${reason} ${number(Number(records))}`)
      .join(', ');
  return [
    ['outcome.row', totals.stored],
    ['outcome.identify', totals.identify],
    ['outcome.duplicate', totals.duplicate],
    ['outcome.dropped', sumOf(totals.dropped), reasons(totals.dropped)],
    ['outcome.dead', sumOf(totals.dead), reasons(totals.dead)],
    ['books.redriven', totals.redriven],
    ['outcome.erased', totals.erased],
    ['outcome.expired', totals.expired],
    ['books.inFlight', totals.in_flight],
  ];
}
