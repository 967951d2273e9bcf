import type { Weir } from './create-weir.ts';
import type { KeptCall } from './kept-calls.ts';

/** For pages that call `weir` before the deferred script has loaded: keeps the calls, in order. */
// Browsers also set `window.weir` to an element with the ID `weir`.
if (!window.weir?.track) {
  const q: KeptCall[] = [];
  const stub: Record<string, unknown> = { q };
  const kept: (keyof Weir)[] = ['track', 'pageview', 'identify', 'optOut', 'optIn', 'setCookieless'];
  for (const method of kept) stub[method] = (...args: unknown[]) => void q.push([method, ...args]);
  stub.getVisitorId = stub.getSessionId = () => '';
  window.weir = stub as unknown as Weir;
}
