import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useChange } from '../api/use-admin.ts';
import { navigate, pathTo } from '../app/location.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Problem } from '../ui/states.tsx';
import { ZoneSelect } from './zone-select.tsx';

/** Adds a site, and opens its overview, which shows how to install the snippet. */
export function NewSiteDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const client = useQueryClient();
  // `useChange` would wait until this report over all sites is loaded again. Only the page of all sites needs it, if the dialog was closed meanwhile.
  const loadOverview = (): void => void client.invalidateQueries({ queryKey: ['overview'] });
  const create = useChange('createSite', ['listSites'], undefined, loadOverview);
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [domain, setDomain] = useState('');
  const [name, setName] = useState('');
  const [timezone, setTimezone] = useState(own);
  const submit = () => {
    const body = { name: name.trim() || domain.trim(), domain: domain.trim(), timezone };
    const onSuccess = (site: Answer<'createSite'>): void => {
      onClose();
      navigate(pathTo('sites', site.site_id, 'overview'));
    };
    create.mutate({ body }, { onSuccess });
  };
  return (
    <Dialog title={t('site.add')} onClose={onClose}>
      <Form onSubmit={submit}>
        <label>
          {t('site.domain')}
          <input
            required
            placeholder="example.com"
            value={domain}
            onChange={(event) => setDomain(event.target.value)}
          />
        </label>
        <label>
          {t('site.name')}
          <input
            placeholder={domain || t('site.nameHint')}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <ZoneSelect value={timezone} onChange={setTimezone} />
        <p className="note">{t('site.timezoneHint')}</p>
        {create.error && <Problem error={create.error} />}
        <div className="actions">
          <button type="submit" className="button primary" disabled={create.isPending}>
            {t('site.add')}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
