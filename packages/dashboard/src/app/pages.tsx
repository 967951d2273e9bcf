import type { ComponentType, FunctionComponent } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { late } from './late.tsx';
import { Link } from './link.tsx';
import { pathTo, useLocation } from './location.ts';
import { PageBoundary } from './page-boundary.tsx';
import { usePageTitle } from './page-title.ts';
import type { Session } from './session.ts';
import { Shell } from './shell.tsx';
import { SiteProvider, useSites } from './site-context.tsx';
import { SITE_NAVIGATION } from './site-navigation.ts';
import { ZoneNote } from './zone-note.tsx';

const latePage = <Props extends object>(load: () => Promise<FunctionComponent<Props>>) => late(load, <Loading />);
const SitesPage = latePage(async () => (await import('../sites/sites-page.tsx')).SitesPage);
const PipelinePage = latePage(async () => (await import('../pipeline/pipeline-page.tsx')).PipelinePage);
const RealtimePage = latePage(async () => (await import('../realtime/realtime-page.tsx')).RealtimePage);
const GoalsPage = latePage(async () => (await import('../behaviour/goals-page.tsx')).GoalsPage);
const FunnelPage = latePage(async () => (await import('../behaviour/funnel-page.tsx')).FunnelPage);
const RetentionPage = latePage(async () => (await import('../behaviour/retention-page.tsx')).RetentionPage);
const JourneysPage = latePage(async () => (await import('../behaviour/journeys-page.tsx')).JourneysPage);
const PeoplePage = latePage(async () => (await import('../people/people-page.tsx')).PeoplePage);
const SqlPage = latePage(async () => (await import('../sql/sql-page.tsx')).SqlPage);
const SettingsPage = latePage(async () => (await import('../settings/settings-page.tsx')).SettingsPage);

/** The pages of a site, by the part of the path that names them. */
const SITE_PAGES: Readonly<Record<string, ComponentType<{ readonly isAdmin: boolean }>>> = {
  overview: OverviewPage,
  realtime: RealtimePage,
  goals: GoalsPage,
  funnels: FunnelPage,
  retention: RetentionPage,
  journeys: JourneysPage,
  people: PeoplePage,
  settings: SettingsPage,
};

/** Chooses the page by the path: /dashboard, /dashboard/pipeline, /dashboard/sql, /dashboard/sites/ID/PAGE. */
export function Pages({ session }: { readonly session: Session }) {
  const { parts, query } = useLocation();
  const place = `${parts.join('/')}?${query}`;
  return (
    <Shell session={session}>
      <PageBoundary place={place}>
        <Page session={session} />
      </PageBoundary>
    </Shell>
  );
}

function Page({ session }: { readonly session: Session }) {
  const { parts } = useLocation();
  const [first, siteId, page = 'overview'] = parts;
  if (first === undefined) return <Start session={session} />;
  if (first === 'pipeline' && session.role === 'admin') return <PipelinePage />;
  if (first === 'sql' && session.role === 'admin') return <SqlPage />;
  if (first === 'sites' && siteId !== undefined) return <SitePage session={session} siteId={siteId} page={page} />;
  return <NoPage />;
}

function Start({ session }: { readonly session: Session }) {
  if (session.role === 'admin') return <SitesPage />;
  return <SitePage session={session} siteId={session.sites?.[0] ?? ''} page="overview" />;
}

function SitePage({
  session,
  siteId,
  page,
}: {
  readonly session: Session;
  readonly siteId: string;
  readonly page: string;
}) {
  const { t } = useTexts();
  const { sites, isLoaded, error, retry } = useSites(session);
  const site = sites.find((one) => one.site_id === siteId);
  const isAllowed = session.role === 'admin' || SITE_NAVIGATION.some((item) => item.page === page && item.forViewers);
  const Page = isAllowed && Object.hasOwn(SITE_PAGES, page) ? SITE_PAGES[page] : undefined;
  if (site === undefined && error !== null) return <Problem error={error} onRetry={retry} />;
  if (site === undefined) return isLoaded ? <NoPage text={t('site.unknown', { id: siteId })} /> : <Loading />;
  if (Page === undefined) return <NoPage />;
  return (
    <SiteProvider site={site}>
      <ZoneNote zone={site.timezone} />
      <Page key={siteId} isAdmin={session.role === 'admin'} />
    </SiteProvider>
  );
}

function NoPage({ text }: { readonly text?: string }) {
  const { t } = useTexts();
  const title = text ?? t('page.unknown');
  usePageTitle(title);
  return (
    <Empty title={title}>
      <Link className="button" href={pathTo()}>
        {t('page.start')}
      </Link>
    </Empty>
  );
}
