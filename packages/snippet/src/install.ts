import type { Weir } from './create-weir.ts';
import type { WeirCore } from './weir.ts';

/** A call that the stub (stub-script.ts) kept before this script had loaded: [method, ...arguments]. */
export type KeptCall = readonly [string, ...unknown[]];

/** The calls that the stub kept. Undefined if the snippet has already run, because a second script tag must do nothing. */
export function keptCalls(): KeptCall[] | undefined {
  return (window.weir || { q: [] }).q;
}

/** Sets `window.weir` and runs the kept calls. The caller sends the first pageview later, so an opt-out among the calls applies to it. */
export function install(weir: WeirCore, calls: KeptCall[]): void {
  // The object of weir.core.js has only the methods of `WeirCore`, but `window.weir` has one type for all forms of the snippet.
  window.weir = weir as Weir;
  for (const [method, ...args] of calls) {
    (weir as unknown as Record<string, (...args: unknown[]) => void>)[method]!(...args);
  }
}
