import { useEffect, useRef, useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { FactsTable } from '../ui/facts-table.tsx';
import { QueryAnswer } from '../ui/states.tsx';
import { RemainsTable } from './remains-table.tsx';

const POLL_MS = 1_000;

/** The progress of an erasure, where copies of the data remain, and until when. After the erasure, also what was removed. */
export function ErasureReceipt({ erasureId }: { readonly erasureId: string }) {
  const { t, number } = useTexts();
  const [isDone, setDone] = useState(false);
  const erasure = useAdmin('readErasure', { path: { erasure_id: erasureId }, refresh: isDone ? false : POLL_MS });
  const phase = erasure.data?.phase;
  const heading = useRef<HTMLHeadingElement>(null);
  // The button that has begun the erasure is gone.
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => setDone(phase === 'done'), [phase]);
  return (
    <section className="card section" aria-labelledby="receipt" data-testid="receipt">
      <h2 id="receipt" tabIndex={-1} ref={heading}>
        {t('receipt.title')}
      </h2>
      <QueryAnswer query={erasure} lines={5}>
        {({ problem, removed, remains }) => (
          <>
            <p role="status" className={phase === 'done' ? 'state live' : 'state behind'}>
              {t(phase === 'done' ? 'receipt.done' : 'receipt.running')}
            </p>
            {problem !== null && <p className="problem">{problem}</p>}
            {phase === 'done' && (
              <>
                <h3>{t('receipt.removed')}</h3>
                <FactsTable
                  kind="number"
                  facts={Object.entries(removed).map(([table, rows]) => [
                    table,
                    number(rows),
                    <code key={table}>{table}</code>,
                  ])}
                />
              </>
            )}
            <h3>{t('forget.remains')}</h3>
            <RemainsTable remains={remains} />
            <p className="note">{t('receipt.again', { id: erasureId })}</p>
          </>
        )}
      </QueryAnswer>
    </section>
  );
}
