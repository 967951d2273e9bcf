import type { CampaignTags } from '@weir/domain/acquisition/campaign-tags';
import type { JsonObject } from '@weir/domain/json/json';
import type { Identity } from '@weir/domain/people/identity';
import type { IdentityProof } from '@weir/domain/people/identity-signature';
import type { RecordKind } from '@weir/domain/records/raw-record';
import type { Site } from '@weir/domain/registry/site';
import type { GeoColumns } from '../encoding/geo-columns.ts';
import type { BotVerdict } from '../user-agent/bot-verdict.ts';
import type { UserAgentColumns } from '../user-agent/user-agent-columns.ts';

/**
 * The stages of a record: RawRecord (packages/domain) → DecodedRecord → EnrichedEvent → row of `records` (row-encoding.ts).
 * A record that cannot be read becomes a dead letter.
 */
export type DecodedRecord = EnrichedEvent | UnreadableRecord;

export interface UnreadableRecord {
  readonly readable: false;
  readonly partition: number;
  readonly offset: number;
  readonly raw: Uint8Array;
  readonly receivedAt: number;
  readonly error: string;
}

/** What the decoder read from a raw record. Empty text: absent. */
export interface DecodedEvent {
  readonly readable: true;
  readonly partition: number;
  readonly offset: number;
  /** The bytes of the raw record, for a dead letter and for numbers that JavaScript would round. */
  readonly raw: Uint8Array;

  readonly kind: RecordKind;
  readonly siteId: string;
  readonly eventId: string;
  readonly receivedAt: number;
  readonly type: 'pageview' | 'event' | 'identify' | 'unlink';
  readonly eventName: string;
  /** The time of the event itself, in Unix milliseconds. */
  readonly timestamp: number;
  readonly idempotencyKey: string;
  readonly userId: string;
  readonly value: number | undefined;
  readonly valueText: string;
  /** The value as it was sent, if it is a JSON number that a Float64 rounds. */
  readonly numberText: string;
  readonly properties: JsonObject | undefined;
  readonly identity: Identity | undefined;
  /** What the gateway found out about the signature of a browser's identify. */
  readonly identityProof: IdentityProof;

  readonly url: string;
  readonly hostname: string;
  readonly pathname: string;
  readonly referrer: string;
  readonly tags: CampaignTags;
  readonly screenWidth: number;
  readonly screenHeight: number;
  /** The `language` of the body, or else the header `Accept-Language`. */
  readonly acceptLanguage: string;
  /** The `timezone` of the body, not checked yet. */
  readonly timezoneSent: string;
  readonly clientHints: Readonly<Record<string, string>> | undefined;

  /** The client IP in plain text: of records from before addresses were sealed. */
  readonly ip: string;
  readonly sealedIp: string;
  readonly userAgent: string;
  /** False: the user agent may be that of the library that a server sent the event with, and not the visitor's. */
  readonly ownUserAgent: boolean;
  /** From the context of a server event. They win over what the user agent says. */
  readonly deviceTypeSent: string;
  readonly platformSent: string;

  readonly visitorId: string;
  /** The step `put-visitor` computes the visitor ID. */
  readonly cookieless: boolean;
  /** The UTC day of an imported line. */
  readonly lineDay: string;
  readonly sessionId: string;
  /** The server sent the session ID. */
  readonly sessionSent: boolean;
}

/**
 * A decoded event with the fields that the steps fill in. Names that end in `Json`, and the fields of type ...Columns, hold
 * encoded columns of the row, which are cached for many events.
 */
export interface EnrichedEvent extends DecodedEvent {
  /** Set by `open-address`, emptied by `forget-address`. */
  ip: string;
  sealedIp: string;
  /** `put-source` takes them from the URL where they were not sent. */
  hostname: string;
  pathname: string;
  /** Set by `put-visitor` or `link-visitor` where none was sent. */
  visitorId: string;
  /** Set by `put-session` where none was sent. */
  sessionId: string;

  site: Site | undefined;
  bot: BotVerdict;
  userAgentColumns: UserAgentColumns | undefined;
  geo: GeoColumns | undefined;
  /** The columns PAGE_COLUMNS and SOURCE_COLUMNS. */
  sourceJson: string;
  /** The visitor ID of a cookieless event on the day before. Empty where no visit can have begun on that day. */
  previousVisitorId: string;
  /** The visitor was found through the user. */
  linked: boolean;
  /** The session has another ID in earlier rows of the visitor. */
  sessionMoved: boolean;

  /** The state keys of the steps `put-visitor`, `link-visitor` and `put-session`. Empty: the step needs no state. */
  previousSessionsKey: string;
  linkKey: string;
  sessionsKey: string;
  /** The error of a step that failed in its first phase. */
  failure: string;
}
