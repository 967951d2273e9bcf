import { attempt } from './attempt.ts';
import type { Mode } from './mode.ts';
import { createQueue, type Queue } from './queue.ts';
import { visitorIds } from './visitor.ts';

export type PropertyValue = string | number | boolean | null;
export type Properties = Readonly<Record<string, PropertyValue>>;

export interface IdentityProof {
  /** HMAC-SHA256(identity secret of the site, user ID) in hex. A server must compute it: the page must not contain the secret. */
  readonly signature?: string;
}

/** The methods of every form of the snippet. They return at once and never throw. */
export interface WeirCore {
  /** Sends an event; the name has at most 128 chars. `value` is the value, every other key a property. */
  track(name: string, properties?: Properties & { readonly value?: number | string }): void;
  /** Sends a pageview of the current page. */
  pageview(): void;
  /**
   * Identifies the visitor. Fields other than email, name, image and payment_customer_id are traits; a null removes a trait. `firstName`
   * is sent as `first_name`, with a warning in the console.
   */
  identify(userId: string, fields?: Properties, proof?: IdentityProof): void;
  /** Empty in cookieless mode, after `optOut`, if the option `privacy` forbids hits, and if the page is not counted. */
  getVisitorId(): string;
  getSessionId(): string;
}

/** The fields of every hit (docs/api.md, Fields of a collect hit). */
interface PageHit {
  readonly type: string;
  readonly site_id: string;
  visitor_id: string;
  session_id: string;
  url: string;
  readonly pathname: string;
  readonly referrer: string;
  readonly screen_width: number;
  readonly screen_height: number;
}

/**
 * A tuple, because the names of properties would stay in the scripts.
 * - `methods`: what the page uses as `window.weir`.
 * - `leave`: see `Queue`.
 * - `hit`: sends a hit. `fields` replace values of the page. Without `fields` the hit is a pageview.
 * - `page`: the last pageview. Its `url` is empty if there is none, or if its page is not counted.
 */
export type Core<Methods extends WeirCore = WeirCore> = readonly [
  methods: Methods,
  leave: Queue['leave'],
  hit: (fields?: object) => void,
  page: Partial<PageHit>,
];

/**
 * Creates the part that all forms of the snippet share. It also counts pages that return from the back/forward cache. The
 * caller sends the first pageview.
 */
export function createCore(
  site: string,
  endpoints: string[],
  mode: () => Mode,
  path: () => string,
  cleanUrl: (url: string) => string,
): Core {
  const [leave, send] = createQueue(endpoints, mode);
  /** Hits of a page that is not visible yet, because it is prerendered or in a background tab. They are sent when it becomes visible. */
  let unseen: (() => unknown)[] = [];
  const page: Partial<PageHit> = {};
  let referrer = cleanUrl(document.referrer);

  const hit = (fields?: object): void => {
    // These values are read now, because a page can change its path before it becomes visible, also to or from an excluded path.
    const before = mode() as number;
    const url = cleanUrl(location.href);
    const pathname = path();
    unseen.push((): unknown => {
      // biome-ignore lint/suspicious/noAssignInExpressions: saves 3 bytes
      if (before > 1) return fields || (page.url = '');
      if (!fields) referrer = (page.url !== url && page.url) || referrer;
      // The mode can have changed meanwhile. After an opt-out, the queue drops this hit.
      const [visitor_id, session_id] = (mode() as number) & 1 ? ['', ''] : visitorIds(1);
      send(
        attempt(() =>
          JSON.stringify(
            Object.assign(
              fields ? {} : page,
              {
                type: 'pageview',
                site_id: site,
                visitor_id,
                session_id,
                url,
                pathname,
                referrer,
                screen_width: screen.width,
                screen_height: screen.height,
              } satisfies PageHit,
              fields,
            ),
          ),
        ),
      );
    });
  };

  const methods: WeirCore = {
    track(event_name, properties) {
      hit({
        type: 'event',
        event_name,
        event_value: (properties || ({} as Properties)).value,
        // A value of undefined is not sent.
        event_properties: Object.assign({}, properties, { value: undefined }),
      });
    },
    pageview: () => hit(),
    identify(user_id, fields, proof) {
      const identity: Record<string, unknown> = {};
      for (const key in fields) {
        const name = key.replace(/[a-z\d](?=[A-Z])/g, '$&_').toLowerCase();
        if (name !== key) console.warn('weir: use', name, 'for', key);
        identity[name] = fields[key];
      }
      hit({ type: 'identify', identity: Object.assign(identity, proof, { user_id }) });
    },
    getVisitorId: () => (mode() ? '' : visitorIds()[0]),
    getSessionId: () => (mode() ? '' : visitorIds()[1]),
  };

  const see = (): void => {
    if (document.hidden) leave();
    else {
      send();
      unseen.map((run) => run());
      unseen = [];
      // From now on, each hit is sent at once.
      unseen.push = (run) => run() as number;
    }
  };
  // Since 2021 all browsers fire `visibilitychange` also when the page is left.
  addEventListener('visibilitychange', see);
  // A page that is already hidden ends without `visibilitychange`, but with `pagehide`.
  addEventListener('pagehide', leave);
  // A page that returns from the back/forward cache is a new pageview, if it was a pageview before (see the option `manual`).
  addEventListener('pageshow', (event) => event.persisted && page.url && hit());
  see();
  return [methods, leave, hit, page];
}
