import { attempt, keep, kept } from './attempt.ts';
import { URL_CHARS_MAX } from './clean-url.ts';
import { isOn, matches, type Options } from './options.ts';
import { writeVisitor } from './visitor.ts';
import { watchClicks } from './watch-clicks.ts';
import { watchEngagement } from './watch-engagement.ts';
import { watchHistory } from './watch-history.ts';
import { type Core, createCore, type WeirCore } from './weir.ts';

export interface Weir extends WeirCore {
  /**
   * From now on, the pages of this origin begin no request and store only the opt-out, until `optIn`. If the browser refuses storage, this applies
   * only to the present page.
   */
  optOut(): void;
  optIn(): void;
  /** Switches cookieless mode on or off for this page. Switching it on removes stored values at once. */
  setCookieless(on: boolean): void;
}

declare global {
  interface Window {
    /** The stub (stub-script.ts) and the snippet set this. Only the object of the stub has `q`: the calls that it keeps until the snippet has run. */
    weir?: Weir & { q?: (readonly [string, ...unknown[]])[] };
  }
}

const CAMPAIGN = 'utm_*,ref,source,via,*cl*id,';

/** Creates the full snippet with its options; `src`: the default of the option `src`. The caller sends the first pageview. */
export function createWeir(given: Options, src = location.href): Weir {
  // The defaults also replace options that are undefined.
  const { spa = '', exclude = '', hosts = '*', query = '*' } = given;
  let cookieless = isOn(given.cookieless);
  // The fragment can have queries too: `#/reset?token=…`.
  const path = (): string => location.pathname + (isOn(given.hash) ? location.hash : '').replace(/[^#]*/g, clean);
  /** Does the same as `cleanUrl`, and also removes query parameters. */
  const clean = (url: string): string =>
    (url.split('#')[0] as string)
      .replace(/\?.*/, (pairs) =>
        pairs
          // Each pair begins with `?` or `&`.
          .replace(/.([^&=]*)[^&]*/g, (pair, name) => (matches(CAMPAIGN + query, name) ? pair : ''))
          .replace(/^&/, '?'),
      )
      .slice(0, URL_CHARS_MAX);

  const [weir, leave, hit, page] = createCore(
    given.site,
    ((given.endpoint || 'api/collect').match(/\S+/g) as string[]).map((path) => new URL(path, given.src || src).href),
    () =>
      +(kept('weir.off') as string) ||
      (isOn(given.privacy) &&
      (+(navigator.doNotTrack as string) || (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl)
        ? 3
        : matches(exclude, path()) ||
            matches(exclude, attempt(() => decodeURI(path())) as string) ||
            !matches(hosts.toLowerCase(), location.hostname)
          ? 4 | (cookieless as unknown as number)
          : cookieless),
    path,
    clean,
  ) as Core<Weir>;
  const forget = (): void => {
    writeVisitor('');
    keep('weir.q', '');
    page.visitor_id = page.session_id = '';
  };
  const endPage = isOn(given.engagement) && watchEngagement(hit, page);
  watchClicks(weir.track, clean, given);
  if (isOn(spa)) {
    watchHistory(path, () => {
      if (endPage) endPage();
      hit();
    });
  }
  weir.optOut = () => {
    // `forget` comes first, so that full storage has room for the opt-out.
    forget();
    keep('weir.off', 3);
    // After an opt-out, `leave` drops the waiting hits.
    leave();
  };
  weir.optIn = () => keep('weir.off', 0);
  weir.setCookieless = (on) => {
    // biome-ignore lint/suspicious/noAssignInExpressions: saves 1 byte
    if ((cookieless = on)) forget();
  };
  return weir;
}
