import { useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { DataTable, RowButton } from '../ui/data-table.tsx';
import { ConfirmDialog, headingOf } from '../ui/dialog.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';
import { LetterDialog } from './letter-dialog.tsx';

const REFRESH_MS = 15_000;
/** The most dead letters of one page of the list, and of one call that redrives them (appends their records again). */
const PAGE_LETTERS = 50;
/** The results of a redrive after which the dead letter stays in the list. */
const STAYS: readonly string[] = ['dead', 'refused', 'pending', 'not_found'];

type Letter = Answer<'listDeadLetters'>['letters'][number];

/** The records that could not be processed, with their error and payload. They can be processed again. */
export function DeadLettersCard() {
  const { t } = useTexts();
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const after = cursors.at(-1);
  const letters = useAdmin('listDeadLetters', {
    query: { limit: PAGE_LETTERS, ...(after !== undefined && { after }) },
    refresh: REFRESH_MS,
    keep: true,
  });
  const redrive = useChange('redriveDeadLetters', ['listDeadLetters', 'showDeadLetter', 'pipeline', 'audit']);
  const [shown, setShown] = useState<string>();
  const [asks, setAsks] = useState(false);
  /** The heading gets the focus, because the other page may not have the button. */
  const turnTo = (page: readonly string[], button: HTMLElement) => {
    headingOf(button)?.focus();
    setCursors(page);
  };
  const start = (body: { readonly letters?: readonly string[]; readonly limit?: number }) => {
    setCursors([]);
    redrive.mutate({ body });
  };
  return (
    <section className="card section" aria-labelledby="dead-letters" data-testid="dead-letters">
      <h2 id="dead-letters">{t('letters.title')}</h2>
      <p className="note">{t('letters.hint')}</p>
      <div role="status">
        {redrive.isPending && <p className="note">{t('letters.running')}</p>}
        {redrive.data && <Summary results={redrive.data.results} />}
      </div>
      {redrive.error && <Problem error={redrive.error} />}
      <QueryAnswer query={letters} lines={3}>
        {(page) =>
          page.total === 0 ? (
            <p className="state live">{t('letters.none')}</p>
          ) : (
            <>
              <div className="actions">
                <span className="note">{t('letters.count', { count: page.total })}</span>
                <button type="button" className="button" disabled={redrive.isPending} onClick={() => setAsks(true)}>
                  {t('letters.redriveMany', { count: Math.min(PAGE_LETTERS, page.total) })}
                </button>
              </div>
              <LettersTable letters={page.letters} onShow={setShown} />
              <div className="actions">
                {cursors.length > 0 && (
                  <button
                    type="button"
                    className="button small"
                    onClick={({ currentTarget }) => turnTo(cursors.slice(0, -1), currentTarget)}
                  >
                    {t('letters.previous')}
                  </button>
                )}
                {page.cursor !== null && (
                  <button
                    type="button"
                    className="button small"
                    onClick={({ currentTarget }) => turnTo([...cursors, page.cursor ?? ''], currentTarget)}
                  >
                    {t('letters.next')}
                  </button>
                )}
              </div>
            </>
          )
        }
      </QueryAnswer>
      {shown !== undefined && (
        <LetterDialog
          id={shown}
          isBusy={redrive.isPending}
          onRedrive={() => {
            setShown(undefined);
            start({ letters: [shown] });
          }}
          onClose={() => setShown(undefined)}
        />
      )}
      {asks && (
        <ConfirmDialog
          removes
          title={t('letters.redriveTitle')}
          text={t('letters.redriveText')}
          action={t('letters.redrive')}
          onConfirm={() => start({ limit: PAGE_LETTERS })}
          onClose={() => setAsks(false)}
        />
      )}
    </section>
  );
}

function LettersTable({
  letters,
  onShow,
}: {
  readonly letters: readonly Letter[];
  readonly onShow: (id: string) => void;
}) {
  const { t, number, time } = useTexts();
  return (
    <DataTable
      label={t('letters.title')}
      rows={letters}
      keyOf={({ letter_id }) => letter_id}
      columns={[
        { title: t('letters.failedAt'), kind: 'name', cell: (letter) => time(letter.failed_at, undefined, 'full') },
        { title: t('letters.site'), cell: (letter) => letter.site_id || t('letters.unknownSite') },
        { title: t('letters.stage'), cell: (letter) => letter.stage },
        { title: t('letters.error'), fit: 'long', hint: (letter) => letter.error, cell: (letter) => letter.error },
        { title: t('letters.attempts'), kind: 'number', cell: (letter) => number(letter.attempts) },
        {
          cell: (letter) => (
            <RowButton
              text={t('letters.show')}
              label={t('letters.showName', { name: letter.letter_id })}
              onClick={() => onShow(letter.letter_id)}
            />
          ),
        },
      ]}
    />
  );
}

function Summary({ results }: { readonly results: Answer<'redriveDeadLetters'>['results'] }) {
  const { t } = useTexts();
  const left = results.filter(({ result }) => STAYS.includes(result));
  return (
    <>
      <p className={left.length === 0 ? 'state live' : 'state stuck'}>
        {t('letters.done', { gone: results.length - left.length, left: left.length })}
      </p>
      {left.length > 0 && (
        <ul className="note">
          {[...new Set(left.map(({ problem }) => problem ?? ''))].map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </>
  );
}
