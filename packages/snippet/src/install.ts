import type { WeirCore } from './weir.ts';

/** What the stub keeps: calls that came before the script, as [method, ...arguments]. */
export type KeptCall = readonly [string, ...unknown[]];

declare global {
  interface Window {
    weir?: WeirCore & { q?: KeptCall[] };
  }
}

/** Takes the one global, and makes up for the calls that the stub kept: who opted out before is not counted first. */
export function install(weir: WeirCore, manual?: boolean): void {
  const calls = (window.weir || ({} as Window['weir'] & object)).q || [];
  window.weir = weir;
  for (const [method, ...args] of calls) {
    (weir as unknown as Record<string, (...args: unknown[]) => void>)[method]!(...args);
  }
  if (!manual) weir.pageview();
}
