import type { Weir } from './create-weir.ts';
import type { KeptCall, Methods } from './kept-calls.ts';

/** For pages that call `weir` before the deferred script has loaded: keeps the calls, in order. */
// If the page has an element with the ID `weir`, browsers set `window.weir` to this element, which has no method `track`.
if (!window.weir?.track) {
  const q: KeptCall[] = [];
  const stub: Record<string, unknown> = { q };
  const methods: (keyof Weir)[] = [
    'track',
    'pageview',
    'identify',
    'optOut',
    'optIn',
    'setCookieless',
    'getVisitorId',
    'getSessionId',
  ];
  for (const method of methods) {
    stub[method] = (...args: unknown[]) => {
      const weir = window.weir as unknown as Methods & { readonly q?: unknown };
      // A page can keep this object or its methods, and use them after the script has replaced `window.weir`. Only the stub and its copies have `q`.
      if (!weir.q) return weir[method]!(...args);
      if (/^get/.test(method)) return '';
      q.push([method, ...args]);
    };
  }
  window.weir = stub as unknown as Weir;
}
