import { useState } from 'react';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';
import { idOf, type PersonId } from './person-address.ts';
import { RemainsTable } from './remains-table.tsx';

interface Props {
  readonly person: PersonId;
  readonly onBegun: (erasureId: string) => void;
  readonly onClose: () => void;
}

/** Says what is erased, where copies remain, and until when. Erases the person after the reader has typed its ID. */
export function ForgetDialog({ person, onBegun, onClose }: Props) {
  const { t } = useTexts();
  const path = { site_id: useSite().site_id };
  const id = idOf(person);
  const named = 'user_id' in person ? { users: [id] } : { visitors: [id] };
  const plan = useAdmin('createErasure', { path, body: { ...named, dry_run: true } });
  // The page shows the receipt also if the dialog was closed meanwhile, because that does not stop the erasure.
  const erase = useChange('createErasure', ['searchPeople'], undefined, ({ erasure_id }) => onBegun(erasure_id));
  const [typed, setTyped] = useState('');
  return (
    <Dialog wide title={t('forget.title', { id })} onClose={onClose}>
      <Form onSubmit={() => erase.mutate({ path, body: named })}>
        <h3>{t('forget.removed')}</h3>
        <ul className="plain-text">
          {(['events', 'profile', 'payments', 'state', 'archive'] as const).map((what) => (
            <li key={what}>{t(what === 'profile' && 'visitor_id' in person ? 'forget.links' : `forget.${what}`)}</li>
          ))}
        </ul>
        <h3>{t('forget.remains')}</h3>
        <QueryAnswer query={plan} lines={4}>
          {({ remains }) => <RemainsTable remains={remains} />}
        </QueryAnswer>
        <p>{t('forget.final')}</p>
        <label>
          {t('forget.type', { id })}
          <input
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        {erase.error && <Problem error={erase.error} />}
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button danger" disabled={typed !== id || erase.isPending}>
            {t('person.forget')}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
