import { keep, kept } from './attempt.ts';
import { cleanUrl } from './clean-url.ts';
import { type IsOn, matches, type Options } from './options.ts';
import { QUEUE_NAME } from './queue.ts';
import { watchClicks } from './watch-clicks.ts';
import { watchEngagement } from './watch-engagement.ts';
import { watchHistory } from './watch-history.ts';
import { createCore, type WeirCore } from './weir.ts';

export interface Weir extends WeirCore {
  /** Sends and stores nothing from now on, on this browser, but this wish. */
  optOut(): void;
  optIn(): void;
  /** Switches cookieless mode for this page. On: what was stored is removed at once. */
  setCookieless(on: boolean): void;
}

const OFF = 'weir.off';
const CAMPAIGN = 'utm_*,ref,source,via,*cl*id,';

/** Everything that the snippet does, by its options. The first pageview is the caller's. */
export function createWeir(given: Options): Weir {
  const options = Object.assign({ spa: true, exclude: '', hosts: '*', query: '*' }, given);
  const isOn: IsOn = (name) => /^(true)?$/.test(options[name] as string);
  let cookieless = isOn('cookieless');
  const browser = navigator as Navigator & { globalPrivacyControl?: boolean };
  const path = (): string => location.pathname + (isOn('hash') ? location.hash : '');
  const clean = (url: string): string =>
    cleanUrl(
      url.replace(/\?[^#]*/, (query) =>
        query
          .replace(/[?&]([^=&]*)[^&]*/g, (pair, name) => (matches(CAMPAIGN + options.query, name) ? pair : ''))
          .replace(/^&/, '?'),
      ),
    );

  const core = createCore({
    site: options.site,
    endpoints: options.endpoint.split(' '),
    mode: () =>
      kept(OFF) ||
      (isOn('privacy') && (+(browser.doNotTrack as string) || browser.globalPrivacyControl)) ||
      matches(options.exclude, path()) ||
      !matches(options.hosts, location.hostname)
        ? 2
        : cookieless,
    path,
    cleanUrl: clean,
  });
  const { weir, page } = core;
  const forget = (): void => {
    core.visitor.write('');
    keep(QUEUE_NAME, '');
    page().visitor_id = page().session_id = '';
  };
  const endPage = isOn('engagement') && watchEngagement(core);
  watchClicks(weir.track, clean, isOn);
  if (isOn('spa')) {
    watchHistory(path, () => {
      if (endPage) endPage();
      weir.pageview();
    });
  }
  return Object.assign(weir, {
    optOut() {
      keep(OFF, 1);
      forget();
    },
    optIn: () => keep(OFF, ''),
    setCookieless(on: boolean) {
      cookieless = on;
      if (on) forget();
    },
  });
}
