import { useMemo } from 'react';
import { pathTo, useHash } from '../app/location.ts';

/** A user with all of its visitors, or one visitor. */
export type PersonId = { readonly user_id: string } | { readonly visitor_id: string };

/**
 * The person that the address names. The ID is in the fragment, because a browser does not send the fragment. So a proxy that logs the
 * address of the page does not log the ID.
 */
export function usePersonInAddress(): PersonId | undefined {
  const hash = useHash();
  return useMemo(() => {
    const named = new URLSearchParams(hash.slice(1));
    const [userId, visitorId] = [named.get('user'), named.get('visitor')];
    if (userId) return { user_id: userId };
    return visitorId ? { visitor_id: visitorId } : undefined;
  }, [hash]);
}

/**
 * The address of the list of people or, with `person`, of one person. The address of a person keeps the search for the way back to the list. The
 * query is kept for the links to the reports.
 */
export function peoplePath(siteId: string, search: string, person?: PersonId): string {
  const named = new URLSearchParams();
  if (person !== undefined) named.set('user_id' in person ? 'user' : 'visitor', idOf(person));
  if (search !== '') named.set('search', search);
  const fragment = named.toString();
  return pathTo('sites', siteId, 'people') + location.search + (fragment && `#${fragment}`);
}

export const idOf = (person: PersonId): string => ('user_id' in person ? person.user_id : person.visitor_id);
