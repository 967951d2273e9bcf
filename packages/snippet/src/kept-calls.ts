import type { Weir } from './create-weir.ts';

/** A call that the stub (stub-script.ts) kept before this script had loaded: [method, ...arguments]. */
export type KeptCall = readonly [string, ...unknown[]];

/** The calls that the stub kept. Undefined if the snippet has already run, because a second script tag must do nothing. */
export function keptCalls(): KeptCall[] | undefined {
  // Without the snippet and the stub, `window.weir` can be an element with the ID `weir`.
  return (window.weir || ({} as Partial<Weir>)).track ? (window.weir as Weir & { q?: KeptCall[] }).q : [];
}

/** The methods of the snippet by name. A kept call contains the name of its method, and the scripts call the method by this name. */
export type Methods = Readonly<Record<string, (...args: unknown[]) => unknown>>;
