import { useRef, useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { DataTable, RowButton } from '../ui/data-table.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';
import { NewKey } from './new-key.tsx';

type Key = Answer<'listKeys'>[number];
const SCOPE_CHOICES = ['events:write identify:write', 'events:write', 'identify:write', 'legacy'] as const;
type ScopeChoice = (typeof SCOPE_CHOICES)[number];

/** Creates, lists and revokes the API keys of a site. Each new key stays on the page until "Done", because the server cannot show it again. */
export function ApiKeys({ siteId }: { readonly siteId: string }) {
  const { t, time } = useTexts();
  const path = { site_id: siteId };
  const keys = useAdmin('listKeys', { path });
  const revoke = useChange('revokeKey', ['listKeys']);
  const [name, setName] = useState('');
  const [choice, setChoice] = useState<ScopeChoice>('events:write identify:write');
  const [made, setMade] = useState<readonly Answer<'createKey'>[]>([]);
  const create = useChange('createKey', ['listKeys'], undefined, (key) => setMade((keys) => [key, ...keys]));
  const [asked, setAsked] = useState<Key>();
  const [note, setNote] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);

  const submit = () => {
    revoke.reset();
    setNote('');
    const scopes = choice.split(' ') as Key['scopes'];
    const body =
      choice === 'legacy' ? { name: name.trim(), legacy_identify: true as const } : { name: name.trim(), scopes };
    // Keeps what the reader has typed while the list was loaded again.
    create.mutate({ path, body }, { onSuccess: () => setName((now) => (now === name ? '' : now)) });
  };
  const hide = (key: Pick<Key, 'key_id'>) => setMade((keys) => keys.filter((one) => one.key_id !== key.key_id));
  const remove = (key: Key) => {
    create.reset();
    setNote('');
    const onSuccess = () => {
      hide(key);
      setNote(t('keys.revoked', { name: key.name }));
    };
    revoke.mutate({ path: { ...path, key_id: key.key_id } }, { onSuccess });
  };
  const error = create.error ?? revoke.error;
  return (
    <section className="card section" aria-labelledby="api-keys">
      <h2 id="api-keys" ref={heading}>
        {t('keys.title')}
      </h2>
      <p className="note">{t('keys.hint')}</p>
      <Form className="inline-form" onSubmit={submit}>
        <label>
          {t('keys.name')}
          <input
            required
            maxLength={255}
            autoComplete="off"
            placeholder="backend"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label>
          {t('keys.scopes')}
          <select value={choice} onChange={(event) => setChoice(event.target.value as ScopeChoice)}>
            {SCOPE_CHOICES.map((one) => (
              <option key={one} value={one}>
                {one === 'legacy' ? t('keys.legacy') : one.replace(' ', ', ')}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" className="button primary" disabled={create.isPending}>
          {t('keys.create')}
        </button>
      </Form>
      {error && <Problem error={error} />}
      <p role="status" className="note">
        {note}
      </p>
      {made.map((key) => (
        <NewKey key={key.key_id} made={key} onDone={() => hide(key)} />
      ))}
      <QueryAnswer query={keys} lines={3}>
        {(list) => (
          <DataTable
            label={t('keys.title')}
            testId="keys"
            rows={list}
            none={
              <p className="note" data-testid="no-keys">
                {t('keys.none')}
              </p>
            }
            keyOf={({ key_id }) => key_id}
            columns={[
              { title: t('keys.name'), kind: 'name', fit: 'long', hint: (key) => key.name, cell: (key) => key.name },
              { title: t('keys.id'), cell: (key) => <code>{key.key_id}</code> },
              {
                title: t('keys.scopes'),
                cell: (key) => (key.legacy_identify ? t('keys.legacy') : key.scopes.join(', ')),
              },
              { title: t('created'), cell: (key) => time(key.created_at, undefined, 'week') },
              {
                title: t('lastUsed'),
                cell: (key) =>
                  key.last_used_at === null ? t('never') : time(key.last_used_at, undefined, 'wholeHour'),
              },
              {
                cell: (key) => (
                  <RowButton
                    isDanger
                    text={t('keys.revoke')}
                    label={t('keys.revokeName', { name: key.name })}
                    onClick={() => setAsked(key)}
                  />
                ),
              },
            ]}
          />
        )}
      </QueryAnswer>
      {asked && (
        <ConfirmDialog
          removes
          title={t('keys.revokeTitle', { name: asked.name })}
          text={t('keys.revokeText')}
          action={t('keys.revoke')}
          onConfirm={() => remove(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}
