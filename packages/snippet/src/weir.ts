import { attempt } from './attempt.ts';
import type { Mode } from './mode.ts';
import { createQueue } from './queue.ts';
import { createVisitor, type Visitor } from './visitor.ts';

export type PropertyValue = string | number | boolean | null;
export type Properties = Readonly<Record<string, PropertyValue>>;

/** What every form of the snippet can do. Calls return at once, and nothing throws. */
export interface WeirCore {
  /** An event of at most 128 chars. `value` is its value, everything else a property. */
  track(name: string, properties?: Properties & { readonly value?: number | string }): void;
  /** A pageview of the page as it is now. */
  pageview(): void;
  /** Says who the visitor is. Fields beside email, name and image are traits; a null removes a trait. */
  identify(userId: string, fields?: Properties): void;
  /** Empty in cookieless mode and after `optOut`. */
  getVisitorId(): string;
  getSessionId(): string;
}

/** What every hit on the wire has beside its type (api.md 2.3). */
export interface PageHit {
  readonly site_id: string;
  visitor_id: string;
  session_id: string;
  readonly url: string;
  readonly pathname: string;
  readonly referrer: string;
  readonly screen_width: number;
  readonly screen_height: number;
}

export interface Core {
  readonly weir: WeirCore;
  readonly visitor: Visitor;
  /** Sends a hit of this type; `fields` win over the page's own. Without fields: a pageview. */
  readonly hit: (type: string, fields?: object) => void;
  /** The last pageview; empty where the page is not counted. */
  page: Partial<PageHit>;
}

/** Pageviews (out of bfcache too), events, identities, visitor, session and queue. The first pageview is the caller's. */
export function createCore(
  site: string,
  endpoints: string[],
  mode: () => Mode,
  path: () => string,
  cleanUrl: (url: string) => string,
): Core {
  const visitor = createVisitor();
  const queue = createQueue(endpoints, mode);
  /** What happens before the page is seen: while it is prerendered, or in a tab in the background. */
  const unseen: (() => void)[] = [];
  let isSeen: boolean | undefined;
  let referrer = cleanUrl(document.referrer);

  const ids = (active?: boolean): readonly string[] => (mode() ? ['', ''] : visitor.ids(active));

  const hit = (type: string, fields?: object): void => {
    const send = (): void => {
      if ((mode() as number) > 1) {
        if (!fields) core.page = {};
        return;
      }
      const url = cleanUrl(location.href);
      if (!fields && core.page.url !== url) referrer = core.page.url || referrer;
      const [visitor_id, session_id] = ids(true) as [string, string];
      const context: PageHit = {
        site_id: site,
        visitor_id,
        session_id,
        url,
        pathname: path(),
        referrer,
        screen_width: screen.width,
        screen_height: screen.height,
      };
      if (!fields) core.page = context;
      queue.send(attempt(() => JSON.stringify(Object.assign(context, fields, { type }))));
    };
    if (isSeen) send();
    else unseen.push(send);
  };

  const weir: WeirCore = {
    track(event_name, properties = {}) {
      // What is undefined is not sent.
      const event_properties = Object.assign({}, properties, { value: undefined });
      hit('event', { event_name, event_value: properties.value, event_properties });
    },
    pageview: () => hit('pageview'),
    identify: (user_id, fields) => hit('identify', { identity: Object.assign({}, fields, { user_id }) }),
    getVisitorId: () => ids()[0] as string,
    getSessionId: () => ids()[1] as string,
  };

  const see = (): void => {
    if (document.hidden) {
      if (isSeen) queue.leave();
    } else {
      isSeen = true;
      queue.send();
      unseen.splice(0).map((send) => send());
    }
  };
  // Also when the page is left, in every browser since 2021.
  addEventListener('visibilitychange', see);
  // Out of the back/forward cache: the page is looked at again.
  addEventListener('pageshow', (event) => event.persisted && weir.pageview());
  const core: Core = { weir, visitor, hit, page: {} };
  see();
  return core;
}
