import { useEffect } from 'react';
import { usePageTitle } from '../app/page-title.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ApiKeys } from './api-keys.tsx';
import { ExclusionRules } from './exclusion-rules.tsx';
import { IdentityCard } from './identity-card.tsx';
import { RemoveSite } from './remove-site.tsx';
import { SITE_SECTIONS } from './settings-sections.ts';
import { SiteFields } from './site-fields.tsx';
import { ViewersCard } from './viewers-card.tsx';

export function SettingsPage() {
  const { t } = useTexts();
  const site = useSite();
  usePageTitle(t('nav.settings'), site.name);
  useEffect(() => {
    // The headings did not exist yet when the browser opened an address such as `…/settings#viewers`, so the page scrolls to the heading here.
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <>
      <header className="page-head">
        <h1>{t('nav.settings')}</h1>
        <nav aria-label={t('settings.sections')} className="jumps">
          {SITE_SECTIONS.map(({ id, label }) => (
            <a key={id} href={`#${id}`}>
              {t(label)}
            </a>
          ))}
        </nav>
      </header>
      <SiteFields siteId={site.site_id} />
      <ApiKeys siteId={site.site_id} />
      <IdentityCard siteId={site.site_id} />
      <ViewersCard siteId={site.site_id} />
      <ExclusionRules siteId={site.site_id} />
      <RemoveSite />
    </>
  );
}
