import { useMemo, useSyncExternalStore } from 'react';

// The dashboard has its own small router, because it has few kinds of paths, and the state of the reports is in the query. Libraries with routes,
// loaders and matching would add 10 to 30 KB to the first load.

const BASE = '/dashboard';
const listeners = new Set<() => void>();

export interface Location {
  /** The parts of the path below /dashboard, decoded. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('popstate', listener);
  addEventListener('hashchange', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
    removeEventListener('hashchange', listener);
  };
}

const pathAndQuery = (): string => location.pathname + location.search;
const fragment = (): string => location.hash;

export function useLocation(): Location {
  // The third argument lets tests render pages without a browser.
  const text = useSyncExternalStore(subscribe, pathAndQuery, pathAndQuery);
  return useMemo(() => parseLocation(text), [text]);
}

/** The fragment of the address, with its `#`. */
export function useHash(): string {
  return useSyncExternalStore(subscribe, fragment, fragment);
}

/** The search of a list, in the fragment of the address, because a browser does not send the fragment. A search can be the ID of a person. */
export const useSearchInAddress = (): string => new URLSearchParams(useHash().slice(1)).get('search') ?? '';

function parseLocation(text: string): Location {
  // A value in the query can contain a `?`.
  const [path = '', ...query] = text.split('?');
  const parts = path.slice(BASE.length).split('/').filter(Boolean).map(decodePart);
  return { parts, query: new URLSearchParams(query.join('?')) };
}

/** Decodes a part of a path. Returns it unchanged if it has a malformed escape such as `%zz`. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a page: `pathTo('sites', 'demo', 'overview')`. */
export function pathTo(...parts: readonly string[]): string {
  return [BASE, ...parts.map(encodeURIComponent)].join('/');
}

/** Opens an address. `here` keeps the position on the page. `replace` adds no entry to the history, and sets the default of `here` to true. */
export function navigate(
  url: string,
  { replace = false, here = replace }: { readonly replace?: boolean; readonly here?: boolean } = {},
): void {
  if (replace || url === location.pathname + location.search + location.hash) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  for (const listener of listeners) listener();
  if (here) return;
  scrollTo(0, 0);
  focusContentIfLost();
}

/** The control that has opened a page can be gone with the former page. A reader with a keyboard then continues at the start of the content. */
export function focusContentIfLost(): void {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true });
  });
}

/** The present path with another query. */
export function withQuery(change: (query: URLSearchParams) => void): string {
  const query = new URLSearchParams(location.search);
  change(query);
  const text = query.toString();
  return location.pathname + (text === '' ? '' : `?${text}`);
}
