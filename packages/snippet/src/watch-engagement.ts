import type { Core } from './weir.ts';

/** Sends `$engagement` when a page is hidden or left. Returns what to call when the page becomes another one. */
export function watchEngagement(core: Core): () => void {
  let since: number;
  let depth: number;
  const look = (): void => {
    depth = Math.max(depth, (((scrollY + innerHeight) / document.documentElement.scrollHeight) * 100) | 0);
  };
  const start = (): void => {
    since = Date.now();
    depth = 0;
  };
  const end = (): void => {
    look();
    const event_properties = { engaged_ms: Date.now() - since, scroll_depth: depth };
    // The pageview's own address and session: the page is another one already, or its session may be over.
    if (core.page.url) core.hit('event', Object.assign({}, core.page, { event_name: '$engagement', event_properties }));
    start();
  };
  start();
  addEventListener('scroll', look);
  // On the document, which hears of it before the window does, where the queue listens.
  document.addEventListener('visibilitychange', () => (document.hidden ? end : start)());
  return end;
}
