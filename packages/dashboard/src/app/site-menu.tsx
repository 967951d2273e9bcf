import * as Ariakit from '@ariakit/react';
import { useState } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import { Icon } from '../ui/icon.tsx';
import { Problem } from '../ui/states.tsx';
import { navigate, pathTo } from './location.ts';
import type { Session } from './session.ts';
import { useSites } from './site-context.tsx';

/** How many sites the list shows. The search finds the others. */
const SHOWN_MAX = 50;

interface Props {
  readonly session: Session;
  readonly siteId: string | undefined;
  readonly page: string;
}

/** Chooses another site and stays on the same kind of page. */
export function SiteMenu({ session, siteId, page }: Props) {
  const { t } = useTexts();
  const { sites, isLoaded, error, retry } = useSites(session);
  const [search, setSearch] = useState('');
  const current = sites.find((site) => site.site_id === siteId);
  const word = search.trim().toLowerCase();
  const found = sites.filter((site) => `${site.name} ${site.domain} ${site.site_id}`.toLowerCase().includes(word));
  return (
    <Ariakit.ComboboxProvider resetValueOnHide setValue={setSearch}>
      <Ariakit.MenuProvider placement="bottom-start">
        <Ariakit.MenuButton className="site-button">
          <span className="site-name">{current?.name ?? t('site.choose')}</span>
          <span className="site-domain">
            {current?.domain ?? (isLoaded ? t('sites.count', { count: sites.length }) : !error && '…')}
          </span>
          <Icon name="down" size={16} />
        </Ariakit.MenuButton>
        <Ariakit.Menu gutter={6} className="menu site-menu" portal unmountOnHide aria-label={t('site.choose')}>
          <Ariakit.Combobox className="menu-search" placeholder={t('site.search')} aria-label={t('site.search')} />
          <Ariakit.ComboboxList className="menu-list">
            {found.slice(0, SHOWN_MAX).map((site) => (
              <Ariakit.ComboboxItem
                key={site.site_id}
                value={site.site_id}
                setValueOnClick={false}
                hideOnClick
                className="menu-item"
                onClick={() => navigate(pathTo('sites', site.site_id, page))}
              >
                <span className="menu-text">
                  {site.name} <span className="muted">{site.domain}</span>
                </span>
              </Ariakit.ComboboxItem>
            ))}
            {error && !isLoaded && <Problem error={error} onRetry={retry} />}
            {isLoaded && found.length === 0 && <p className="menu-note">{t('nothing')}</p>}
          </Ariakit.ComboboxList>
        </Ariakit.Menu>
      </Ariakit.MenuProvider>
    </Ariakit.ComboboxProvider>
  );
}
