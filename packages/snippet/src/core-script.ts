import { cleanUrl } from './clean-url.ts';
import { install } from './install.ts';
import { watchHistory } from './watch-history.ts';
import { createCore } from './weir.ts';

const { dataset, src } = document.currentScript as HTMLScriptElement;
const path = () => location.pathname;
const { weir } = createCore({
  site: dataset.site as string,
  endpoints: [dataset.endpoint || new URL('api/collect', src).href],
  mode: () => 'cookieless' in dataset,
  path,
  cleanUrl,
});
watchHistory(path, weir.pageview);
install(weir);
