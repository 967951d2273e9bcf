import { NO_CAMPAIGN_TAGS } from '@weir/domain/acquisition/campaign-tags';
import { isDumpVersion } from '@weir/domain/dump/dump-format';
import { readDumpedRow } from '@weir/domain/dump/dumped-row';
import { readCollectHit } from '@weir/domain/ingest/collect-hit';
import { textOf } from '@weir/domain/ingest/context';
import { FieldError } from '@weir/domain/ingest/field-error';
import { readServerEvent } from '@weir/domain/ingest/server-event';
import { isTime } from '@weir/domain/ingest/timestamp';
import { roundedNumberText } from '@weir/domain/json/rounded-number';
import { normalizeIp } from '@weir/domain/net/ip-address';
import { utcDay } from '@weir/domain/people/cookieless';
import { readIdentity } from '@weir/domain/people/identity';
import { bodyTextOf } from '@weir/domain/records/body-text';
import { decodeRawRecord, type RawRecord } from '@weir/domain/records/raw-record';
import { isRedriven } from '@weir/domain/records/redriven';
import { isSealedAddress } from '@weir/domain/records/sealed-address';
import { isUuid } from '@weir/domain/records/uuid';
import { languageTag } from '../locale/language.ts';
import { NO_STAMP_JSON } from '../session/visit-stamp.ts';
import { NO_BOT } from '../user-agent/judge-bot.ts';
import type { DecodedEvent, EnrichedEvent } from './enriched-event.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export interface LoggedRecord {
  readonly partition: number;
  readonly offset: number;
  readonly value: Uint8Array;
}

/**
 * Decodes a raw record with the functions with which the gateway validated it. Returns a text with the reason if the record cannot be
 * read. The returned event has the fields that the steps will fill in, still empty: one object goes through all stages, because copying
 * costs time.
 */
export function decodeRecord(logged: LoggedRecord): EnrichedEvent | string {
  let record: RawRecord;
  try {
    record = decodeRawRecord(logged.value);
  } catch {
    // The error message is not used: it would quote the record, which can contain a client IP.
    return 'not a raw record';
  }
  if (!isUuid(record.eventId)) return 'eventId is not a UUID';
  if (!isTime(record.receivedAt)) return 'receivedAt is not a time';
  if (record.body === null || Array.isArray(record.body)) return 'body is not an object';
  const { sealedIp = '' } = record;
  if (sealedIp !== '' && !(typeof sealedIp === 'string' && isSealedAddress(sealedIp))) return 'sealedIp is not known';
  if (record.redriven !== undefined && !isRedriven(record.redriven)) return 'redriven is not known';
  const decode = DECODERS.get(record.kind);
  if (decode === undefined) return 'kind is not known';
  const event = emptyEvent(logged, record);
  return decode(event, record) ?? event;
}

/** Fills in the fields of an event from the body of a record. If the body cannot be read, returns the reason. */
type Decoder = (event: Mutable<DecodedEvent>, record: RawRecord) => string | undefined;

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['collect', decodeCollect],
  ['event', decodeServerEvent],
  ['identify', decodeServerIdentity],
  ['import', decodeImport],
  ['unlink', decodeUnlink],
  ['dumped', decodeDumped],
]);

function decodeCollect(event: Mutable<DecodedEvent>, record: RawRecord): string | undefined {
  const sent = readCollectHit(record.body, () => bodyTextOf(event.raw));
  if (sent instanceof FieldError) return `${sent.field} is invalid`;
  const { identity } = sent;
  event.type = sent.type;
  event.eventName = sent.eventName;
  event.userId = identity?.userId ?? '';
  event.value = sent.value;
  event.valueText = sent.valueText;
  event.properties = sent.properties;
  event.identity = identity;
  event.identityProof = record.identityProof;
  event.url = sent.url;
  event.hostname = sent.hostname;
  event.pathname = sent.pathname;
  event.referrer = sent.referrer;
  event.tags = sent.tags;
  event.screenWidth = sent.screenWidth ?? 0;
  event.screenHeight = sent.screenHeight ?? 0;
  event.acceptLanguage = languageTag(record.body.language) || textOf(record.acceptLanguage);
  event.timezoneSent = textOf(record.body.timezone);
  event.clientHints = record.clientHints;
  event.visitorId = sent.visitorId;
  // An identify links a user to a visitor. Without a visitor ID it has nothing to link, so no cookieless visitor ID is computed for it (docs/api.md,
  // POST /api/collect).
  event.cookieless = sent.visitorId === '' && identity === undefined;
  event.sessionId = sent.sessionId;
  return undefined;
}

function decodeServerEvent(event: Mutable<DecodedEvent>, record: RawRecord): string | undefined {
  const sent = readServerEvent(record.body, record.idempotencyKey);
  if (sent instanceof FieldError) return `${sent.field} is invalid`;
  const { context } = sent;
  event.type = 'event';
  event.eventName = sent.name;
  event.timestamp = sent.timestamp ?? record.receivedAt;
  event.idempotencyKey = sent.idempotencyKey;
  event.userId = sent.userId;
  event.value = sent.value;
  event.valueText = sent.valueText;
  if (sent.value !== undefined && sent.valueText === '') {
    event.numberText = roundedNumberText(sent.value, () => bodyTextOf(event.raw));
  }
  event.properties = sent.properties;
  event.url = context.url;
  event.hostname = context.hostname;
  event.pathname = context.pathname;
  event.referrer = context.referrer;
  // Older versions of Weir stored the address of the visitor here, not encrypted. The gateway now stores it in `sealedIp`, and an empty text here.
  if (context.ip !== '') event.ip = normalizeIp(context.ip);
  event.userAgent = context.userAgent || textOf(record.userAgent);
  event.ownUserAgent = context.userAgent !== '';
  event.deviceTypeSent = context.deviceType;
  event.platformSent = context.platform;
  event.visitorId = sent.visitorId;
  event.sessionId = sent.sessionId;
  event.sessionSent = sent.sessionId !== '';
  return undefined;
}

function decodeServerIdentity(event: Mutable<DecodedEvent>, record: RawRecord): string | undefined {
  const identity = readIdentity(record.body, () => bodyTextOf(event.raw), 'record');
  if (identity instanceof FieldError) return `${identity.field} is invalid`;
  event.type = 'identify';
  event.userId = identity.userId;
  event.identity = identity;
  event.visitorId = identity.visitorId;
  event.ownUserAgent = false;
  return undefined;
}

/** Decodes `{visitor_id, user_id}`, which the admin API has already validated. */
function decodeUnlink(event: Mutable<DecodedEvent>, record: RawRecord): string | undefined {
  const { visitor_id: visitorId, user_id: userId } = record.body;
  if (typeof visitorId !== 'string' || visitorId === '') return 'visitor_id is invalid';
  if (typeof userId !== 'string' || userId === '') return 'user_id is invalid';
  event.type = 'unlink';
  event.visitorId = visitorId;
  event.userId = userId;
  event.ownUserAgent = false;
  return undefined;
}

/**
 * Decodes `{url, referrer?, timestamp}`: a page view from a line of an imported access log. The address and the user agent are not in the body, but
 * in other fields of the raw record.
 */
function decodeImport(event: Mutable<DecodedEvent>, record: RawRecord): string | undefined {
  const { url, referrer, timestamp, user_agent_known: known } = record.body;
  if (typeof url !== 'string' || url === '') return 'url is invalid';
  if (!isTime(timestamp)) return 'timestamp is invalid';
  event.timestamp = timestamp;
  event.url = url;
  event.referrer = textOf(referrer);
  event.ownUserAgent = known !== false;
  event.cookieless = true;
  event.lineDay = utcDay(timestamp);
  return undefined;
}

/**
 * Decodes `{dump, row}`: the format version of a dump (a file of `weir export everything`), and the column values of one of its rows. The fields of
 * the event stay empty, because the step `restore-dumped` stores the row unchanged.
 */
function decodeDumped(event: Mutable<DecodedEvent>, record: RawRecord): string | undefined {
  if (!isDumpVersion(record.body.dump)) return 'dump has an unknown version';
  const row = readDumpedRow(record.body.row);
  if (typeof row === 'string') return `row ${row}`;
  event.dumped = row;
  return undefined;
}

/** Creates an event without the fields of the body. One object literal gives all events the same hidden class in V8. */
function emptyEvent(logged: LoggedRecord, record: RawRecord): Mutable<EnrichedEvent> {
  return {
    readable: true,
    partition: logged.partition,
    offset: logged.offset,
    raw: logged.value,
    kind: record.kind,
    siteId: record.siteId,
    eventId: record.eventId,
    receivedAt: record.receivedAt,
    redriven: record.redriven,
    type: 'pageview',
    eventName: '',
    timestamp: record.receivedAt,
    idempotencyKey: '',
    userId: '',
    value: undefined,
    valueText: '',
    numberText: '',
    properties: undefined,
    identity: undefined,
    identityProof: undefined,
    url: '',
    hostname: '',
    pathname: '',
    referrer: '',
    tags: NO_CAMPAIGN_TAGS,
    screenWidth: 0,
    screenHeight: 0,
    acceptLanguage: '',
    timezoneSent: '',
    clientHints: undefined,
    ip: textOf(record.ip),
    sealedIp: textOf(record.sealedIp),
    userAgent: textOf(record.userAgent),
    ownUserAgent: true,
    deviceTypeSent: '',
    platformSent: '',
    visitorId: '',
    cookieless: false,
    lineDay: '',
    sessionId: '',
    sessionSent: false,
    dumped: undefined,
    site: undefined,
    bot: NO_BOT,
    userAgentColumns: undefined,
    geo: undefined,
    sourceJson: '',
    visitSourceJson: '',
    stampJson: NO_STAMP_JSON,
    previousVisitorId: '',
    linked: false,
    sessionMoved: false,
    previousSessionsKey: '',
    linkKey: '',
    sessionsKey: '',
    erased: false,
    failure: '',
  };
}
