import type { CampaignTags } from '@weir/domain/acquisition/campaign-tags';
import type { DumpedRow } from '@weir/domain/dump/dumped-row';
import type { JsonObject } from '@weir/domain/json/json';
import type { Identity } from '@weir/domain/people/identity';
import type { IdentityProof } from '@weir/domain/people/identity-signature';
import type { RecordKind } from '@weir/domain/records/raw-record';
import type { Redriven } from '@weir/domain/records/redriven';
import type { Site } from '@weir/domain/registry/site';
import type { GeoColumns } from '../encoding/geo-columns.ts';
import type { BotVerdict } from '../user-agent/judge-bot.ts';
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

/** The fields that the decoder reads from a raw record. A text is empty if the record does not have the field. */
export interface DecodedEvent {
  readonly readable: true;
  readonly partition: number;
  readonly offset: number;
  /** The bytes of the raw record. They are needed for dead letters, and for numbers that JavaScript would round. */
  readonly raw: Uint8Array;

  readonly kind: RecordKind;
  readonly siteId: string;
  readonly eventId: string;
  readonly receivedAt: number;
  /** Set if the record is a dead letter that is processed again (`weir dead-letters redrive`). */
  readonly redriven: Redriven | undefined;
  readonly type: 'pageview' | 'event' | 'identify' | 'unlink';
  readonly eventName: string;
  /** The time of the event itself, in Unix milliseconds. */
  readonly timestamp: number;
  readonly idempotencyKey: string;
  readonly userId: string;
  readonly value: number | undefined;
  readonly valueText: string;
  /** The text of the value as it was sent, if the value is a JSON number that a Float64 could round. Otherwise empty. */
  readonly numberText: string;
  readonly properties: JsonObject | undefined;
  readonly identity: Identity | undefined;
  /**
   * The result of the gateway's check of the signature of a browser's identify: `signed` (valid) or `refused` (not valid, and the site requires
   * one). Undefined in all other cases (`IdentityProof` has the list).
   */
  readonly identityProof: IdentityProof;

  readonly url: string;
  readonly hostname: string;
  readonly pathname: string;
  readonly referrer: string;
  readonly tags: CampaignTags;
  readonly screenWidth: number;
  readonly screenHeight: number;
  /** Only for hits of /api/collect: the field `language` of the body, or the header `Accept-Language` if the body has no valid language. */
  readonly acceptLanguage: string;
  /** The field `timezone` of the body, before it is validated. */
  readonly timezoneSent: string;
  readonly clientHints: Readonly<Record<string, string>> | undefined;

  /** The client IP in plain text. Only records of older versions of Weir have it: they did not encrypt addresses. */
  readonly ip: string;
  readonly sealedIp: string;
  readonly userAgent: string;
  /**
   * False if `userAgent` is perhaps not that of the visitor: it can be that of a server's HTTP library, or the event can come from an access log
   * without user agents.
   */
  readonly ownUserAgent: boolean;
  /** The device type and platform from the context of a server event. They replace those from the user agent. */
  readonly deviceTypeSent: string;
  readonly platformSent: string;

  readonly visitorId: string;
  /** True if the step `put-visitor` computes the visitor ID. */
  readonly cookieless: boolean;
  /** The UTC day of the log line, for a hit that was imported from an access log. Otherwise empty. */
  readonly lineDay: string;
  readonly sessionId: string;
  /** True if the record is a server event that contains a session ID. */
  readonly sessionSent: boolean;
  /** The row of an imported dump (a file of `weir export everything`). Undefined for all other records. */
  readonly dumped: DumpedRow | undefined;
}

/**
 * A decoded event with the fields that the steps fill in. Fields whose names end in `Json`, and fields of the types ...Columns, hold columns of the
 * row as JSON. These texts are cached.
 */
export interface EnrichedEvent extends DecodedEvent {
  /** For a row of a dump, the step `drop-erased` or `restore-dumped` sets this to the original time of receipt. */
  receivedAt: number;
  /** The client IP, decrypted by the step `open-address`. The row encoder cannot read this field: see `StoredEvent`. */
  ip: string;
  sealedIp: string;
  /** The step `put-source` takes these fields from the URL if they were not sent. */
  hostname: string;
  pathname: string;
  /** Set by the step `put-visitor` or `link-visitor` if no visitor ID was sent. */
  visitorId: string;
  /** Set by the step `put-session` if no session ID was sent. */
  sessionId: string;

  site: Site | undefined;
  bot: BotVerdict;
  userAgentColumns: UserAgentColumns | undefined;
  geo: GeoColumns | undefined;
  /** The encoded columns PAGE_COLUMNS and SOURCE_COLUMNS (source-columns.ts). */
  sourceJson: string;
  /**
   * The last part of `stampJson` (the next field) if a visit begins with this event: the encoded source, channel, referrer domain and
   * campaign of the visit. Set by the step `put-source`.
   */
  visitSourceJson: string;
  /**
   * The encoded columns that describe the visit: FIRST_STAMP_COLUMNS, and then the UTM tags that were added to the list of columns later
   * (later-tags.ts). Set by the step `put-session`.
   */
  stampJson: string;
  /**
   * The ID that a cookieless visitor had on the day before. Empty if the visitor is not cookieless, after 04:00 UTC, and if there is no salt of the
   * day before.
   */
  previousVisitorId: string;
  /** True if the step `link-visitor` has looked up the visitor of the user ID. If it found none, `visitorId` is empty. */
  linked: boolean;
  /** True if this event has changed the ID of its session, so that earlier rows of the visitor have another ID for it. */
  sessionMoved: boolean;

  /** The state keys of the steps `put-visitor`, `link-visitor` and `put-session`. Empty if the step needs no state. */
  previousSessionsKey: string;
  linkKey: string;
  sessionsKey: string;
  /** True if the record belongs to a person or a site that was erased (docs/erasure.md). */
  erased: boolean;
  /** The error of a step that failed in `prepare`. Empty if no step failed. */
  failure: string;
}

/**
 * The part of an event that the row encoder can read. The client IP is left out, so that no column can contain it (docs/api.md: the address
 * never reaches ClickHouse).
 */
export type StoredEvent = Omit<EnrichedEvent, 'ip' | 'sealedIp'>;
