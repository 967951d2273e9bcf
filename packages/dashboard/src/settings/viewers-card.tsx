import { useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { CodeBlock } from '../ui/copy-text.tsx';
import { DataTable, RowButton } from '../ui/data-table.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { DoneButton } from '../ui/done-button.tsx';
import { Form } from '../ui/form.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';

/** Creates and removes read-only tokens for the reports of a site. Each new token is shown until "Done". */
export function ViewersCard({ siteId }: { readonly siteId: string }) {
  const { t, time } = useTexts();
  const path = { site_id: siteId };
  const viewers = useAdmin('listViewers', { path });
  const remove = useChange('removeViewer', ['listViewers']);
  const [name, setName] = useState('');
  const [made, setMade] = useState<readonly Answer<'createViewer'>[]>([]);
  const create = useChange('createViewer', ['listViewers'], undefined, (viewer) =>
    setMade((viewers) => [viewer, ...viewers]),
  );
  const [asked, setAsked] = useState<Answer<'listViewers'>[number]>();
  const hide = (id: string) => setMade((viewers) => viewers.filter((one) => one.viewer_id !== id));
  const error = create.error ?? remove.error;
  return (
    <section className="card section" aria-labelledby="viewers">
      <h2 id="viewers">{t('viewers.title')}</h2>
      <p className="note">{t('viewers.hint')}</p>
      <Form
        className="inline-form"
        onSubmit={() => {
          remove.reset();
          const onSuccess = () => setName((now) => (now === name ? '' : now));
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
      </Form>
      {error && <Problem error={error} />}
      {made.map((viewer) => (
        <div key={viewer.viewer_id} className="new-key" data-testid="new-viewer">
          <h3>{t('viewers.new', { name: viewer.name })}</h3>
          <p>{t('viewers.copyNow')}</p>
          <CodeBlock code={viewer.token} label={t('viewers.token')} />
          <DoneButton onDone={() => hide(viewer.viewer_id)} />
        </div>
      ))}
      <QueryAnswer query={viewers} lines={2}>
        {(list) => (
          <DataTable
            label={t('viewers.title')}
            testId="viewers"
            rows={list}
            none={<p className="note">{t('viewers.none')}</p>}
            keyOf={({ viewer_id }) => viewer_id}
            columns={[
              { title: t('viewers.name'), kind: 'name', fit: 'long', cell: (viewer) => viewer.name },
              { title: t('viewers.prefix'), cell: (viewer) => <code>{viewer.prefix}</code> },
              {
                title: t('lastUsed'),
                cell: (viewer) =>
                  viewer.last_used_at === null ? t('never') : time(viewer.last_used_at, undefined, 'wholeHour'),
              },
              {
                cell: (viewer) => (
                  <RowButton
                    isDanger
                    text={t('remove')}
                    label={t('removeName', { name: viewer.name })}
                    onClick={() => setAsked(viewer)}
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
          title={t('viewers.removeTitle', { name: asked.name })}
          text={t('viewers.removeText')}
          action={t('remove')}
          onConfirm={() => {
            create.reset();
            hide(asked.viewer_id);
            remove.mutate({ path: { ...path, viewer_id: asked.viewer_id } });
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}
