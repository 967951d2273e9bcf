import { useState } from 'react';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { CodeBlock } from '../ui/copy-text.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { DoneButton } from '../ui/done-button.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';

const EXAMPLE = [
  '// on your server: the secret never goes to a browser',
  "import { createHmac } from 'node:crypto';",
  "import { env } from 'node:process';",
  "const signature = createHmac('sha256', env.WEIR_IDENTITY_SECRET).update(userId).digest('hex');",
  '',
  '// in the page',
  "weir.identify(userId, { plan: 'pro' }, { signature });",
].join('\n');

type Question = 'replace' | 'remove' | 'require';

/** The secret with which a server signs the identities that browsers send, and whether Weir refuses those without a signature. */
export function IdentityCard({ siteId }: { readonly siteId: string }) {
  const { t, time } = useTexts();
  const path = { site_id: siteId };
  const site = useAdmin('readSite', { path });
  const create = useChange('createIdentitySecret', ['readSite']);
  const remove = useChange('removeIdentitySecret', ['readSite']);
  const change = useChange('changeSite', ['readSite'], 'readSite');
  const [asked, setAsked] = useState<Question>();
  const require = (required: boolean) => change.mutate({ path, body: { identity_verification: { required } } });
  const act = (question: Question) => {
    // A new secret stays on the page until "Done", "Replace" or "Remove", because Weir does not show it again.
    for (const one of create.error ? [create, remove, change] : [remove, change]) one.reset();
    if (question === 'replace') create.mutate({ path });
    else if (question === 'remove') remove.mutate({ path }, { onSuccess: () => create.reset() });
    else require(true);
  };
  const error = create.error ?? remove.error ?? change.error;
  return (
    <section className="card section" aria-labelledby="identity" data-testid="identity">
      <h2 id="identity">{t('identity.title')}</h2>
      <p className="note">{t('identity.hint')}</p>
      {error && <Problem error={error} />}
      <QueryAnswer query={site} lines={2}>
        {({ identity_verification: { required, secret_created_at: createdAt } }) => (
          <>
            <p className={required ? 'state live' : undefined}>
              {t(createdAt === null ? 'identity.off' : required ? 'identity.required' : 'identity.optional')}
            </p>
            {createdAt !== null && (
              <p className="note">{t('identity.created', { time: time(createdAt, undefined, 'full') })}</p>
            )}
            <div className="actions start">
              {/* One button for the next step, so that it keeps the focus when the step is done. */}
              <button
                type="button"
                className={required ? 'button' : 'button primary'}
                aria-disabled={create.isPending || change.isPending}
                onClick={() => {
                  if (create.isPending || change.isPending) return;
                  if (createdAt === null) act('replace');
                  else if (required) require(false);
                  else setAsked('require');
                }}
              >
                {t(`identity.${createdAt === null ? 'create' : required ? 'allow' : 'require'}`)}
              </button>
              {createdAt !== null && (
                <>
                  <button type="button" className="button" onClick={() => setAsked('replace')}>
                    {t('identity.replace')}
                  </button>
                  {!required && (
                    <button type="button" className="button danger" onClick={() => setAsked('remove')}>
                      {t('identity.remove')}
                    </button>
                  )}
                </>
              )}
            </div>
          </>
        )}
      </QueryAnswer>
      {create.data && (
        <div className="new-key" data-testid="new-secret">
          <h3>{t('identity.new')}</h3>
          <p>{t('identity.copyNow')}</p>
          <CodeBlock code={create.data.secret} label={t('identity.secret')} />
          <CodeBlock code={EXAMPLE} label={t('identity.example')} />
          <DoneButton onDone={() => create.reset()} />
        </div>
      )}
      {asked !== undefined && (
        <ConfirmDialog
          removes={asked === 'remove'}
          title={t(`identity.${asked}Title`)}
          text={t(`identity.${asked}Text`)}
          action={t(`identity.${asked}`)}
          onConfirm={() => act(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}
