import { useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { CodeBlock } from '../ui/copy-text.tsx';
import { ScrollBox } from '../ui/scroll-box.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';

/** Creates and removes read-only tokens for the reports of a site. A new token is shown until "Done". */
export function ViewersCard({ siteId }: { readonly siteId: string }) {
  const { t, time } = useTexts();
  const path = { site_id: siteId };
  const viewers = useAdmin('listViewers', { path });
  const create = useChange('createViewer', ['listViewers']);
  const remove = useChange('removeViewer', ['listViewers']);
  const [name, setName] = useState('');
  const [made, setMade] = useState<Answer<'createViewer'>>();
  const error = create.error ?? remove.error;
  return (
    <section className="card section" aria-labelledby="viewers">
      <h2 id="viewers">{t('viewers.title')}</h2>
      <p className="note">{t('viewers.hint')}</p>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          remove.reset();
          const onSuccess = (viewer: Answer<'createViewer'>): void => {
            setMade(viewer);
            setName('');
          };
          create.mutate({ path, body: { name: name.trim() } }, { onSuccess });
        }}
      >
        <label>
          {t('viewers.name')}
          <input required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <button type="submit" className="button primary" disabled={create.isPending}>
          {t('viewers.create')}
        </button>
      </form>
      {error && <Problem error={error} />}
      {made && (
        <div className="new-key" data-testid="new-viewer">
          <h3>{t('viewers.new', { name: made.name })}</h3>
          <p>{t('viewers.copyNow')}</p>
          <CodeBlock code={made.token} label={t('viewers.token')} />
          <button type="button" className="button" onClick={() => setMade(undefined)}>
            {t('done')}
          </button>
        </div>
      )}
      <QueryAnswer query={viewers} lines={2}>
        {(list) =>
          list.length === 0 ? (
            <p className="note">{t('viewers.none')}</p>
          ) : (
            <ScrollBox label={t('viewers.title')}>
              <table className="table" data-testid="viewers">
                <thead>
                  <tr>
                    <th scope="col">{t('viewers.name')}</th>
                    <th scope="col">{t('viewers.prefix')}</th>
                    <th scope="col">{t('lastUsed')}</th>
                    <th scope="col">
                      <span className="visually-hidden">{t('actions')}</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {list.map((viewer) => (
                    <tr key={viewer.viewer_id}>
                      <th scope="row" className="long">
                        {viewer.name}
                      </th>
                      <td>
                        <code>{viewer.prefix}</code>
                      </td>
                      <td>
                        {viewer.last_used_at === null ? t('never') : time(viewer.last_used_at, undefined, 'full')}
                      </td>
                      <td className="number">
                        <button
                          type="button"
                          className="button small danger"
                          aria-label={t('removeName', { name: viewer.name })}
                          onClick={() => {
                            create.reset();
                            if (made?.viewer_id === viewer.viewer_id) setMade(undefined);
                            remove.mutate({ path: { ...path, viewer_id: viewer.viewer_id } });
                          }}
                        >
                          {t('remove')}
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </ScrollBox>
          )
        }
      </QueryAnswer>
    </section>
  );
}
