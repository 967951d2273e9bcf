import { attempt } from './attempt.ts';
import { createQueue } from './queue.ts';
import { createVisitor } from './visitor.ts';

export type PropertyValue = string | number | boolean | null;
export type Properties = Readonly<Record<string, PropertyValue>>;

/** `window.weir`. Calls return at once; nothing throws. */
export interface Weir {
  /** An event of at most 128 chars. `value` is its value, everything else a property. */
  track(name: string, properties?: Properties & { readonly value?: number | string }): void;
  /** A pageview of the page as it is now. */
  pageview(): void;
  /** Says who the visitor is. Fields beside email, name and image are traits; a null removes a trait. */
  identify(userId: string, fields?: Properties): void;
  /** Empty in cookieless mode and after `optOut`. */
  getVisitorId(): string;
  getSessionId(): string;
  /** Sends and stores nothing from now on, on this browser, but this wish. */
  optOut(): void;
  optIn(): void;
  /** Switches cookieless mode. On: what was stored is removed at once. */
  setCookieless(on: boolean): void;
}

export interface WeirOptions {
  readonly site: string;
  /** Where hits go; further ones are tried when the first can't be reached. */
  readonly endpoints: readonly string[];
  /** Stores nothing: the server tells visitors apart by a daily hash. */
  readonly cookieless?: boolean;
  /** Whether history changes are pageviews. Default true. */
  readonly spa?: boolean;
  /** The fragment is part of the path. */
  readonly hash?: boolean;
  /** Whether a hit of the page with this path may be sent. */
  readonly allows?: (path: string) => boolean;
  /** What is sent of a URL. */
  readonly cleanUrl?: (url: string) => string;
}

const OFF = 'weir.off';
const URL_CHARS_MAX = 4096;

/** The core: pageviews with history and bfcache, events, identities, visitor, session and queue. Sends the first pageview itself. */
export function createWeir(options: WeirOptions): Weir {
  const visitor = createVisitor();
  let cookieless = options.cookieless;
  let off = attempt(() => localStorage[OFF]);
  const queue = createQueue([...options.endpoints], () => !cookieless && !off);
  /** What happens before the page is seen: while it is prerendered, or in a tab in the background. */
  let unseen: (() => void)[] | undefined = [];
  let page = '';
  let referrer = cleanUrl(document.referrer);

  function cleanUrl(url: string): string {
    const clean = url.split('#')[0] as string;
    return (options.cleanUrl ? options.cleanUrl(clean) : clean).slice(0, URL_CHARS_MAX);
  }
  const path = (): string => location.pathname + (options.hash ? location.hash : '');
  const ids = (active?: boolean): readonly [string, string] => (cookieless || off ? ['', ''] : visitor.ids(active));

  const hit = (type: string, fields?: object, isPage?: boolean): void => {
    const send = (): void => {
      if (off || (options.allows && !options.allows(path()))) return;
      const url = cleanUrl(location.href);
      if (isPage) {
        if (page && page !== url) referrer = page;
        page = url;
      }
      const [visitor_id, session_id] = ids(true);
      const context = { site_id: options.site, visitor_id, session_id, type, url, pathname: path(), referrer };
      const size = { screen_width: screen.width, screen_height: screen.height };
      const body = attempt(() => JSON.stringify(Object.assign(context, size, fields)));
      if (body) queue.push(body);
    };
    if (unseen) unseen.push(send);
    else send();
  };

  const weir: Weir = {
    track(name, properties) {
      const event_properties: Record<string, unknown> = Object.assign({}, properties);
      const event_value = event_properties.value;
      delete event_properties.value;
      hit('event', { event_name: name, event_value, event_properties });
    },
    pageview: () => hit('pageview', undefined, true),
    identify: (userId, fields) => hit('identify', { identity: Object.assign({}, fields, { user_id: userId }) }),
    getVisitorId: () => ids()[0],
    getSessionId: () => ids()[1],
    optOut() {
      off = 1;
      attempt(() => {
        localStorage[OFF] = 1;
      });
      queue.clear();
      visitor.forget();
    },
    optIn() {
      off = 0;
      attempt(() => delete localStorage[OFF]);
    },
    setCookieless(on) {
      cookieless = on;
      if (on) visitor.forget();
    },
  };

  const see = (): void => {
    if (document.visibilityState === 'hidden') {
      if (!unseen) queue.leave();
    } else if (unseen) {
      const waiting = unseen;
      unseen = undefined;
      queue.resume();
      for (const send of waiting) send();
    } else queue.resume();
  };
  document.addEventListener('visibilitychange', see);
  addEventListener('pagehide', () => unseen || queue.leave());
  // Out of the back/forward cache: the page is looked at again.
  addEventListener('pageshow', (event) => event.persisted && weir.pageview());

  if (options.spa !== false) {
    let lastUrl = location.href;
    const moved = (replaced?: unknown): void => {
      const before = lastUrl;
      lastUrl = location.href;
      const key = (url: string): string =>
        replaced === 1 ? (url.split(options.hash ? '?' : /[?#]/)[0] as string) : options.hash ? url : cleanUrl(url);
      if (key(before) !== key(lastUrl)) weir.pageview();
    };
    for (const [name, replaced] of [
      ['pushState', 0],
      ['replaceState', 1],
    ] as const) {
      const original = history[name];
      history[name] = (...args) => {
        original.apply(history, args);
        moved(replaced);
      };
    }
    addEventListener('popstate', moved);
    addEventListener('hashchange', moved);
  }
  see();
  return weir;
}
