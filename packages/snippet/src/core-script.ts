import { cleanUrl } from './clean-url.ts';
import type { Weir } from './create-weir.ts';
import { keptCalls, type Methods } from './kept-calls.ts';
import { watchHistory } from './watch-history.ts';
import { createCore } from './weir.ts';

const { dataset, src } = document.currentScript as HTMLScriptElement;
const calls = keptCalls();
if (calls) {
  const path = () => location.pathname;
  const [methods] = createCore(
    dataset.site as string,
    ((dataset.endpoint || 'api/collect').match(/\S+/g) as string[]).map((path) => new URL(path, src).href),
    () => 'cookieless' in dataset,
    path,
    cleanUrl,
  );
  watchHistory(path, methods.pageview);
  // The cast is needed: this object has only the methods of `WeirCore`, but `window.weir` has one type for all forms of the snippet.
  window.weir = methods as Weir;
  // The stub also keeps calls of methods that this script lacks. Such a call throws: only its own promise rejects, and the browser reports the error.
  void calls.map(async ([method, ...args]) => (methods as unknown as Methods)[method]!(...args));
  methods.pageview();
}
