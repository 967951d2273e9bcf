import { createContext, type ReactNode, useContext } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import type { Session } from './session.ts';

/** What every page of a site needs. A viewer may not read the other fields of a site. */
export interface SiteHead {
  readonly site_id: string;
  readonly name: string;
  readonly domain: string;
  readonly timezone: string;
}

const Context = createContext<SiteHead | undefined>(undefined);

export function SiteProvider({ site, children }: { readonly site: SiteHead; readonly children: ReactNode }) {
  return <Context.Provider value={site}>{children}</Context.Provider>;
}

/** The site of the page. */
export function useSite(): SiteHead {
  const site = useContext(Context);
  if (site === undefined) throw new Error('useSite needs a SiteProvider');
  return site;
}

interface Sites {
  readonly sites: readonly SiteHead[];
  readonly isLoaded: boolean;
  /** Why the last request for the sites failed. */
  readonly error: Error | null;
  retry(): void;
}

/** The sites that this session may read. */
export function useSites(session: Session): Sites {
  const all = useAdmin('listSites', { enabled: session.role === 'admin' });
  const retry = (): void => void all.refetch();
  if (session.role === 'admin') {
    return { sites: all.data ?? [], isLoaded: all.data !== undefined, error: all.error, retry };
  }
  return { sites: session.site ? [session.site] : [], isLoaded: true, error: null, retry };
}
