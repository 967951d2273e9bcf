import { useDeferredValue, useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { Link } from '../app/link.tsx';
import { navigate, pathTo, useSearchInAddress } from '../app/location.ts';
import { usePageTitle } from '../app/page-title.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { Change } from '../overview/metric-tiles.tsx';
import { shareAhead } from '../overview/unfinished.ts';
import { Icon } from '../ui/icon.tsx';
import { Pager } from '../ui/pager.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, QueryAnswer } from '../ui/states.tsx';
import { CrowdedSites } from './crowded-sites.tsx';
import { NewSiteDialog } from './new-site-dialog.tsx';
import { Sparkline } from './sparkline.tsx';

const SITES_PER_PAGE = 60;

/** The address of this page. */
const sitesPath = (search: string): string => pathTo() + (search && `#${new URLSearchParams({ search })}`);

/** All sites with their visitors of the last seven days. The address keeps the search for the way back from a site. */
export function SitesPage() {
  const { t, number } = useTexts();
  const search = useSearchInAddress();
  const word = useDeferredValue(search.trim());
  const [shown, setShown] = useState({ search, page: 1 });
  const page = shown.search === search ? shown.page : 1;
  const [isNew, setNew] = useState(false);
  const overview = useAdmin('overview', {
    query: { period: '7d', limit: SITES_PER_PAGE, page, ...(word !== '' && { search: word }) },
    refresh: true,
    keep: true,
  });
  usePageTitle(t('nav.sites'));
  return (
    <>
      <header className="page-head">
        <h1>{t('nav.sites')}</h1>
        <SearchField
          label={t('site.search')}
          value={search}
          onSearch={(text) => navigate(sitesPath(text), { replace: true })}
        />
        <button type="button" className="button primary" onClick={() => setNew(true)}>
          <Icon name="plus" size={16} /> {t('site.add')}
        </button>
      </header>
      <CrowdedSites />
      <QueryAnswer query={overview} queryKey={['overview']} lines={9}>
        {(data) => (
          <>
            {data.sites.length === 0 && word === '' && (
              <Empty title={t('sites.none')}>
                <p className="note">{t('sites.noneHint')}</p>
              </Empty>
            )}
            {data.sites.length === 0 && word !== '' && <Empty title={t('nothing')} />}
            <ul className={overview.isPlaceholderData ? 'site-cards old' : 'site-cards'}>
              {data.sites.map((site) => (
                <li key={site.site_id}>
                  <Link
                    href={pathTo('sites', site.site_id, 'overview')}
                    className="card site-card"
                    data-site={site.site_id}
                  >
                    <span className="site-card-name">{site.name}</span>
                    <span className="site-card-domain">{site.domain}</span>
                    <Sparkline values={site.series} />
                    <span className="site-card-numbers">
                      <b>{number(site.totals.visitors)}</b> {t('visitors.week', { count: site.totals.visitors })}
                      <Change
                        name="visitors"
                        now={site.totals.visitors}
                        before={site.before.visitors}
                        ahead={shareAhead(data.periods.find(({ timezone }) => timezone === site.timezone))}
                      />
                    </span>
                    <span className="now">
                      {site.last_5_minutes.visitors > 0 && <i className="pulse" aria-hidden="true" />}
                      {t('visitors.now', { count: site.last_5_minutes.visitors })}
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
            <Pager page={page} hasMore={data.has_more} onPage={(next) => setShown({ search, page: next })} />
          </>
        )}
      </QueryAnswer>
      {isNew && <NewSiteDialog onClose={() => setNew(false)} />}
    </>
  );
}
