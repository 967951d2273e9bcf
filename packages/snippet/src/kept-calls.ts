/** A call that the stub (stub-script.ts) kept before this script had loaded: [method, ...arguments]. */
export type KeptCall = readonly [string, ...unknown[]];

/** The calls that the stub kept. Undefined if the snippet has already run, because a second script tag must do nothing. */
export function keptCalls(): KeptCall[] | undefined {
  return (window.weir || { q: [] as KeptCall[] }).q as KeptCall[] | undefined;
}

/** The methods of the snippet as the scripts call them: a kept call has the name of its method. */
export type Methods = Readonly<Record<string, (...args: unknown[]) => void>>;
