import type { Weir } from './weir.ts';

/** What the stub leaves behind: calls that came before the script, as [method, ...arguments]. */
type Call = readonly [keyof Weir, ...unknown[]];

declare global {
  interface Window {
    weir?: Weir & { q?: Call[] };
  }
}

/** Takes the one global, and makes up for the calls that the stub kept. Who opted out before is not counted first. */
export function install(weir: Weir, pageview = true): void {
  const calls: Call[] = window.weir?.q || [];
  const call = ([method, ...args]: Call): unknown => (weir[method] as (...args: unknown[]) => unknown)(...args);
  const isWish = ([method]: Call): boolean => /^(opt|set)/.test(method);
  calls.filter(isWish).forEach(call);
  if (pageview) weir.pageview();
  calls.filter((kept) => !isWish(kept)).forEach(call);
  window.weir = weir;
}
