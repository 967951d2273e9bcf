import { useState } from 'react';
import { useChange } from '../api/use-admin.ts';
import { navigate, pathTo } from '../app/location.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/states.tsx';

/** Removes the site and starts the erasure of its records. */
export function RemoveSite() {
  const { t } = useTexts();
  const site = useSite();
  const remove = useChange('removeSite', ['listSites', 'overview']);
  const [isAsked, setAsked] = useState(false);
  return (
    <section className="card section" aria-labelledby="remove-site">
      <h2 id="remove-site">{t('danger.title')}</h2>
      <p className="note">{t('danger.hint')}</p>
      {remove.error && <Problem error={remove.error} />}
      <div>
        <button type="button" className="button danger" disabled={remove.isPending} onClick={() => setAsked(true)}>
          {t('danger.remove')}
        </button>
      </div>
      {isAsked && (
        <ConfirmDialog
          removes
          title={t('danger.confirm', { name: site.name })}
          text={t('danger.text')}
          action={t('danger.remove')}
          onConfirm={() => remove.mutate({ path: { site_id: site.site_id } }, { onSuccess: () => navigate(pathTo()) })}
          onClose={() => setAsked(false)}
        />
      )}
    </section>
  );
}
