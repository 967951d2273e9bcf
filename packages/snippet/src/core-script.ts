import { cleanUrl } from './clean-url.ts';
import { install, keptCalls } from './install.ts';
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
  install(weir, calls);
  weir.pageview();
}
