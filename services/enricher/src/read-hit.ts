import { bodyTextOf } from '@weir/domain/body-text';
import { type CollectHit, readCollectHit } from '@weir/domain/collect-hit';
import { utcDay } from '@weir/domain/cookieless';
import { FieldError } from '@weir/domain/field-error';
import { readIdentity } from '@weir/domain/identity';
import { normalizeIp } from '@weir/domain/ip-address';
import type { JsonObject } from '@weir/domain/json';
import { decodeRawRecord, type RawRecord } from '@weir/domain/raw-record';
import { roundedNumberText } from '@weir/domain/rounded-number';
import { readServerEvent } from '@weir/domain/server-event';
import { NO_BOT } from './bot-verdict.ts';
import { type Hit, NO_TAGS, type Tags } from './hit.ts';
import { languageTag } from './language.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

const EVENT_ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** decisions.md, timestamp: from 1970-01-01 up to, not including, 2100-01-01. */
const TIME_END_MS = Date.UTC(2100, 0, 1);

/** A record in the log, and where. */
export interface LoggedRecord {
  readonly partition: number;
  readonly offset: number;
  readonly value: Uint8Array;
}

/** Reads a raw record through the functions that the gateway validated it with. A text says why it can't be read. */
export function readHit(logged: LoggedRecord): Hit | string {
  let record: RawRecord;
  try {
    record = decodeRawRecord(logged.value);
  } catch {
    // Not the error's own message: it quotes the record, addresses and all.
    return 'not a raw record';
  }
  if (!EVENT_ID.test(record.eventId)) return 'eventId is no UUID';
  if (!isTime(record.receivedAt)) return 'receivedAt is no time';
  if (record.body === null || Array.isArray(record.body)) return 'body is no object';
  switch (record.kind) {
    case 'collect':
      return readCollect(logged, record);
    case 'event':
      return readEvent(logged, record);
    case 'identify':
      return readServerIdentity(logged, record);
    case 'import':
      return readImport(logged, record);
    case 'unlink':
      return readUnlink(logged, record);
    default:
      return 'kind is not known';
  }
}

function readCollect(logged: LoggedRecord, record: RawRecord): Hit | string {
  const sent = readCollectHit(record.body, () => bodyTextOf(logged.value));
  if (sent instanceof FieldError) return `${sent.field} is invalid`;
  const { identity } = sent;
  const hit = blankHit(logged, record);
  hit.type = sent.type;
  hit.eventName = sent.eventName;
  hit.userId = identity?.userId ?? '';
  hit.value = sent.value;
  hit.valueText = sent.valueText;
  hit.properties = sent.properties;
  hit.identity = identity;
  hit.url = sent.url;
  hit.hostname = sent.hostname;
  hit.pathname = sent.pathname;
  hit.referrer = sent.referrer;
  hit.tags = tagsOf(sent);
  hit.screenWidth = sent.screenWidth ?? 0;
  hit.screenHeight = sent.screenHeight ?? 0;
  hit.acceptLanguage = languageTag(record.body.language) || textOf(record.acceptLanguage);
  hit.timezoneSent = textOf(record.body.timezone);
  hit.clientHints = record.clientHints;
  hit.visitorId = sent.visitorId;
  // An identify without a visitor links none, so it needs no made-up one (decisions.md, POST /api/collect).
  hit.cookieless = sent.visitorId === '' && identity === undefined;
  hit.sessionId = sent.sessionId;
  return hit;
}

function readEvent(logged: LoggedRecord, record: RawRecord): Hit | string {
  const event = readServerEvent(record.body);
  if (event instanceof FieldError) return `${event.field} is invalid`;
  const { context } = event;
  const hit = blankHit(logged, record);
  hit.type = 'event';
  hit.eventName = event.name;
  hit.timestamp = event.timestamp ?? record.receivedAt;
  hit.idempotencyKey = event.idempotencyKey;
  hit.userId = event.userId;
  hit.value = event.value;
  hit.valueText = event.valueText;
  if (event.value !== undefined && event.valueText === '') {
    hit.numberText = roundedNumberText(event.value, () => bodyTextOf(logged.value));
  }
  hit.properties = event.properties;
  hit.url = context.url;
  hit.hostname = context.hostname;
  hit.pathname = context.pathname;
  hit.referrer = context.referrer;
  hit.ip = context.ip === '' ? textOf(record.ip) : normalizeIp(context.ip);
  hit.userAgent = context.userAgent || textOf(record.userAgent);
  hit.ownUserAgent = context.userAgent !== '';
  hit.deviceTypeSent = context.deviceType;
  hit.platformSent = context.platform;
  hit.visitorId = event.visitorId;
  hit.sessionId = event.sessionId;
  hit.sessionSent = event.sessionId !== '';
  return hit;
}

function readServerIdentity(logged: LoggedRecord, record: RawRecord): Hit | string {
  const identity = readIdentity(record.body, () => bodyTextOf(logged.value));
  if (identity instanceof FieldError) return `${identity.field} is invalid`;
  const hit = blankHit(logged, record);
  hit.type = 'identify';
  hit.userId = identity.userId;
  hit.identity = identity;
  hit.visitorId = identity.visitorId;
  hit.ownUserAgent = false;
  return hit;
}

/** `{visitor_id, user_id}` of the admin API, which has checked them. */
function readUnlink(logged: LoggedRecord, record: RawRecord): Hit | string {
  const { visitor_id: visitorId, user_id: userId } = record.body;
  if (typeof visitorId !== 'string' || visitorId === '') return 'visitor_id is invalid';
  if (typeof userId !== 'string' || userId === '') return 'user_id is invalid';
  const hit = blankHit(logged, record);
  hit.type = 'unlink';
  hit.visitorId = visitorId;
  hit.userId = userId;
  hit.ownUserAgent = false;
  return hit;
}

/** `{url, referrer?, timestamp}`: a page view that a line of a log tells of; its address and user agent stand in the head. */
function readImport(logged: LoggedRecord, record: RawRecord): Hit | string {
  const { url, referrer, timestamp } = record.body;
  if (typeof url !== 'string' || url === '') return 'url is invalid';
  if (!isTime(timestamp)) return 'timestamp is invalid';
  const hit = blankHit(logged, record);
  hit.timestamp = timestamp;
  hit.url = url;
  hit.referrer = textOf(referrer);
  hit.cookieless = true;
  hit.lineDay = utcDay(timestamp);
  return hit;
}

/** One literal and assignments, so that all hits have one shape and none is copied. */
function blankHit(logged: LoggedRecord, record: RawRecord): Mutable<Hit> {
  return {
    readable: true,
    partition: logged.partition,
    offset: logged.offset,
    raw: logged.value,
    kind: record.kind,
    siteId: record.siteId,
    eventId: record.eventId,
    receivedAt: record.receivedAt,
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
    url: '',
    hostname: '',
    pathname: '',
    referrer: '',
    tags: NO_TAGS,
    screenWidth: 0,
    screenHeight: 0,
    acceptLanguage: '',
    timezoneSent: '',
    clientHints: undefined,
    ip: textOf(record.ip),
    userAgent: textOf(record.userAgent),
    ownUserAgent: true,
    deviceTypeSent: '',
    platformSent: '',
    visitorId: '',
    cookieless: false,
    previousVisitorId: '',
    linked: false,
    lineDay: '',
    sessionId: '',
    sessionSent: false,
    sessionKey: '',
    sessionMoved: false,
    site: undefined,
    names: undefined,
    bot: NO_BOT,
    place: undefined,
    sourceJson: '',
  };
}

function tagsOf(hit: CollectHit): Tags {
  const { utmSource, utmMedium, utmCampaign, utmTerm, utmContent, ref, source, via } = hit;
  if (utmSource + utmMedium + utmCampaign + utmTerm + utmContent + ref + source + via === '') return NO_TAGS;
  return { utmSource, utmMedium, utmCampaign, utmTerm, utmContent, ref, source, via };
}

function isTime(value: JsonObject[string] | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < TIME_END_MS;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
