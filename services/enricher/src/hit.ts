import type { Identity } from '@weir/domain/identity';
import type { JsonObject } from '@weir/domain/json';
import type { DropReason } from '@weir/domain/outcome';
import type { RecordKind } from '@weir/domain/raw-record';
import type { Site } from '@weir/domain/site';
import type { AgentNames } from './agent-names.ts';
import type { BotVerdict } from './bot-verdict.ts';
import type { FinishContext } from './enrichment.ts';
import type { PlaceText } from './place-text.ts';

/**
 * A raw record on its way through the steps. What it was read as stands fixed; each step fills in its own fields.
 * Empty text: absent. Texts that end in `Json` are pieces of the line, serialised once and cached.
 */
export interface Hit {
  readonly readable: true;
  readonly partition: number;
  readonly offset: number;
  /** The record's bytes, for a dead letter. */
  readonly raw: Uint8Array;

  readonly kind: RecordKind;
  readonly siteId: string;
  readonly eventId: string;
  readonly receivedAt: number;
  readonly type: 'pageview' | 'event' | 'identify' | 'unlink';
  readonly eventName: string;
  /** Unix milliseconds of the event itself. */
  readonly timestamp: number;
  readonly idempotencyKey: string;
  readonly userId: string;
  readonly value: number | undefined;
  readonly valueText: string;
  /** The value's own text where it was sent as a JSON number that a Float64 rounds. */
  readonly numberText: string;
  readonly properties: JsonObject | undefined;
  readonly identity: Identity | undefined;

  readonly url: string;
  /** As sent, until `put-source` takes them from the url where they were not. */
  hostname: string;
  pathname: string;
  readonly referrer: string;
  readonly tags: Tags;
  readonly screenWidth: number;
  readonly screenHeight: number;
  /** `Accept-Language`, or the one language that the page's script says. */
  readonly acceptLanguage: string;
  /** As the page's script says it, not checked yet. */
  readonly timezoneSent: string;
  readonly clientHints: Readonly<Record<string, string>> | undefined;

  /** Of the visitor: of a server event the one in its context, else the request's. `forget-address` empties it. */
  ip: string;
  readonly userAgent: string;
  /** The user agent is that of the visitor, and not maybe that of the library which a server sent the event with. */
  readonly ownUserAgent: boolean;
  /** As the caller sent them; they win over the user agent's. */
  readonly deviceTypeSent: string;
  readonly platformSent: string;

  /** As sent, until `put-visitor` and `link-visitor` give it. */
  visitorId: string;
  readonly cookieless: boolean;
  /** Of a cookieless hit: who it would have been on the day before; empty where that day has no salt. */
  previousVisitorId: string;
  /** The visitor was found through the user. */
  linked: boolean;
  /** Of an import, the UTC day of its line. */
  readonly lineDay: string;
  sessionId: string;
  /** The server named the session itself. */
  readonly sessionSent: boolean;
  /** Where the visitor's sessions stand; `sessionKeyOf` makes it. */
  sessionKey: string;
  /** Of rows before it, the session has got another ID. */
  sessionMoved: boolean;

  site: Site | undefined;
  names: AgentNames | undefined;
  bot: BotVerdict;
  place: PlaceText | undefined;
  sourceJson: string;
}

/** The five utm_* fields, and ref, source and via. */
export interface Tags {
  readonly utmSource: string;
  readonly utmMedium: string;
  readonly utmCampaign: string;
  readonly utmTerm: string;
  readonly utmContent: string;
  readonly ref: string;
  readonly source: string;
  readonly via: string;
}

export const NO_TAGS: Tags = {
  utmSource: '',
  utmMedium: '',
  utmCampaign: '',
  utmTerm: '',
  utmContent: '',
  ref: '',
  source: '',
  via: '',
};

/** A record that can't be read: a dead letter. */
export interface Unreadable {
  readonly readable: false;
  readonly partition: number;
  readonly offset: number;
  readonly raw: Uint8Array;
  readonly receivedAt: number;
  readonly error: string;
}

export type Draft = Hit | Unreadable;

/** Why a hit ends here and makes no row. */
export type Ending =
  | { readonly outcome: 'duplicate' }
  | { readonly outcome: 'dropped'; readonly reason: DropReason; readonly ruleId: string };

/** One step: fills in its fields, or ends the hit. */
export type Step = (hit: Hit, batch: FinishContext) => Ending | undefined;
