import type { Core } from './weir.ts';

/** Sends `$engagement` when a page is hidden or left. Returns a function to call when the page changes. */
export function watchEngagement(core: Core): () => void {
  let since: number;
  let depth: number;
  const look = (): void => {
    depth = Math.max(depth, (((scrollY + innerHeight) / document.documentElement.scrollHeight) * 100) | 0);
  };
  const start = (): void => {
    // While the page is hidden there is no time in view, so `end` sends nothing.
    since = document.hidden ? 0 : Date.now();
    depth = 0;
  };
  const end = (): void => {
    look();
    const event_properties = { engaged_ms: Date.now() - since, scroll_depth: depth };
    // Uses the URL and session of the pageview, because the page may have changed, or the session may have ended.
    if (since && core.page.url)
      core.hit('event', Object.assign({}, core.page, { event_name: '$engagement', event_properties }));
    start();
  };
  start();
  addEventListener('scroll', look);
  // Listeners of the document run before those of the window. So this event is already waiting when the listener of the window (weir.ts) sends all
  // waiting hits.
  document.addEventListener('visibilitychange', end);
  return end;
}
