import { attempt } from './attempt.ts';
import type { Mode } from './mode.ts';
import { createQueue } from './queue.ts';
import { createVisitor, type Visitor } from './visitor.ts';

export type PropertyValue = string | number | boolean | null;
export type Properties = Readonly<Record<string, PropertyValue>>;

export interface IdentityProof {
  /** HMAC-SHA256(identity secret of the site, user ID) in hex. A server must compute it, never the page. */
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

/** The fields of every hit except its type (docs/api.md, Fields of a collect hit). */
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
  /** Sends a hit of this type. `fields` replace values of the page. Without `fields` the hit is a pageview. */
  readonly hit: (type: string, fields?: object) => void;
  /** The last pageview; empty if the page is not counted. */
  page: Partial<PageHit>;
}

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
  const visitor = createVisitor();
  const queue = createQueue(endpoints, mode);
  /** Hits of a page that is not visible yet, because it is prerendered or in a background tab. They are sent when it becomes visible. */
  const unseen: (() => unknown)[] = [];
  let isSeen: boolean | undefined;
  let referrer = cleanUrl(document.referrer);

  const ids = (active?: boolean): readonly string[] => (mode() ? ['', ''] : visitor.ids(active));

  const hit = (type: string, fields?: object): void => {
    const send = (): unknown => {
      // biome-ignore lint/suspicious/noAssignInExpressions: saves 3 bytes
      if ((mode() as number) > 1) return fields || (core.page = {});
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
    track(event_name, properties) {
      hit('event', {
        event_name,
        event_value: (properties || ({} as Properties)).value,
        // A value of undefined is not sent.
        event_properties: Object.assign({}, properties, { value: undefined }),
      });
    },
    pageview: () => hit('pageview'),
    identify(user_id, fields, proof) {
      const identity: Record<string, unknown> = {};
      for (const key in fields) {
        const name = key.replace(/[a-z\d](?=[A-Z])/g, '$&_').toLowerCase();
        if (name !== key) console.warn('weir:', key, 'is sent as', name);
        identity[name] = fields[key];
      }
      hit('identify', { identity: Object.assign(identity, proof, { user_id }) });
    },
    getVisitorId: () => ids()[0] as string,
    getSessionId: () => ids()[1] as string,
  };

  const see = (): void => {
    if (document.hidden) queue.leave();
    else {
      isSeen = true;
      queue.send();
      unseen.splice(0).map((send) => send());
    }
  };
  // Since 2021 all browsers also fire this event when the page is left.
  addEventListener('visibilitychange', see);
  // A page that is already hidden ends without that event.
  addEventListener('pagehide', queue.leave);
  // A page that returns from the back/forward cache is a new pageview, if it was a pageview before (see the option `manual`).
  addEventListener('pageshow', (event) => event.persisted && core.page.url && weir.pageview());
  const core: Core = { weir, visitor, hit, page: {} };
  see();
  return core;
}
