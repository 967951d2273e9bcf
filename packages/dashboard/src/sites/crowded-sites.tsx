import { useAdmin } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { Icon } from '../ui/icon.tsx';

/** Warns of sites that get most of their hits from one network. Probably, a proxy is missing in TRUSTED_PROXIES. */
export function CrowdedSites({ siteId }: { readonly siteId?: string }) {
  const { t, number } = useTexts();
  const whoami = useAdmin('whoami', { refresh: true });
  const sites = (whoami.data?.crowded_sites ?? []) as readonly Crowded[];
  const shown = sites.filter((site) => siteId === undefined || site.site_id === siteId);
  if (shown.length === 0) return null;
  return (
    <div role="status">
      <ul className="warnings">
        {shown.map((site) => (
          <li key={site.site_id}>
            <Icon name="warning" />
            <span>
              {t(site.private ? 'crowded.private' : 'crowded.public', {
                site: site.site_id,
                percent: number(site.percent),
                hits: number(site.hits),
              })}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface Crowded {
  readonly site_id: string;
  readonly hits: number;
  readonly percent: number;
  readonly private: boolean;
}
