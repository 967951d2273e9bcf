import { cleanUrl } from './clean-url.ts';
import type { Weir } from './create-weir.ts';
import { keptCalls, type Methods } from './kept-calls.ts';
import { watchHistory } from './watch-history.ts';
import { createCore } from './weir.ts';

const { dataset, src } = document.currentScript as HTMLScriptElement;
const calls = keptCalls();
if (calls) {
  const path = () => location.pathname;
  const { weir } = createCore(
    dataset.site as string,
    [new URL(dataset.endpoint || 'api/collect', src).href],
    () => 'cookieless' in dataset,
    path,
    cleanUrl,
  );
  watchHistory(path, weir.pageview);
  // The cast is needed: this object has only the methods of `WeirCore`, but `window.weir` has one type for all forms of the snippet.
  window.weir = weir as Weir;
  for (const [method, ...args] of calls) (weir as unknown as Methods)[method]!(...args);
  weir.pageview();
}
