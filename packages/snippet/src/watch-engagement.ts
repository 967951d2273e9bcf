import type { Core } from './weir.ts';

/** Sends `$engagement` when a page is hidden or left. Returns a function to call when the page changes. */
export function watchEngagement(hit: Core[2], page: Core[3]): () => void {
  let since: number;
  let depth: number;
  const look = (): void => {
    depth = Math.max(depth, ((100 * (scrollY + innerHeight)) / document.documentElement.scrollHeight) | 0);
  };
  const end = (): void => {
    if (since && page.url) {
      look();
      const event_properties = { engaged_ms: Date.now() - since, scroll_depth: depth };
      // Uses the URL and session of the pageview, because the page may have changed, or the session may have ended.
      hit(Object.assign({}, page, { type: 'event', event_name: '$engagement', event_properties }));
    }
    // While the page is hidden there is no time in view, so the next call sends nothing.
    since = document.hidden ? 0 : Date.now();
    depth = 0;
  };
  end();
  addEventListener('scroll', look);
  // This listener is called before the other one for this event (weir.ts), because it listens to the capture phase. So `$engagement` is already
  // waiting when the other listener sends all waiting hits.
  addEventListener('visibilitychange', end, true);
  return end;
}
