import type { Weir } from './create-weir.ts';
import type { WeirCore } from './weir.ts';

/** What the stub keeps: calls that came before the script, as [method, ...arguments]. */
export type KeptCall = readonly [string, ...unknown[]];

/** The calls that the stub kept; undefined where the snippet is there already: a tag that stands twice counts once. */
export function keptCalls(): KeptCall[] | undefined {
  return (window.weir || { q: [] }).q;
}

/** Takes the one global, and makes up for the kept calls: who opted out before is not counted first. */
export function install(weir: WeirCore, calls: KeptCall[]): void {
  // weir.core.js has no wishes: who loads it knows.
  window.weir = weir as Weir;
  for (const [method, ...args] of calls) {
    (weir as unknown as Record<string, (...args: unknown[]) => void>)[method]!(...args);
  }
}
