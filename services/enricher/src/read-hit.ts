import { bodyTextOf } from '@weir/domain/body-text';
import { type CollectHit, readCollectHit } from '@weir/domain/collect-hit';
import { utcDay } from '@weir/domain/cookieless';
import { FieldError } from '@weir/domain/field-error';
import { readIdentity } from '@weir/domain/identity';
import { normalizeIp } from '@weir/domain/ip-address';
import type { JsonObject } from '@weir/domain/json';
import { decodeRawRecord, type RawRecord } from '@weir/domain/raw-record';
import { readServerEvent } from '@weir/domain/server-event';
import { type Hit, NO_TAGS, type Tags } from './hit.ts';

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
    default:
      return 'kind is not known';
  }
}

function readCollect(logged: LoggedRecord, record: RawRecord): Hit | string {
  const hit = readCollectHit(record.body, () => bodyTextOf(logged.value));
  if (hit instanceof FieldError) return `${hit.field} is invalid`;
  const { identity } = hit;
  return {
    ...blankHit(logged, record),
    type: hit.type,
    eventName: hit.eventName,
    userId: identity?.userId ?? '',
    value: hit.value,
    valueText: hit.valueText,
    properties: hit.properties,
    identity,
    url: hit.url,
    hostname: hit.hostname,
    pathname: hit.pathname,
    referrer: hit.referrer,
    tags: tagsOf(hit),
    screenWidth: hit.screenWidth ?? 0,
    screenHeight: hit.screenHeight ?? 0,
    acceptLanguage: textOf(record.acceptLanguage),
    clientHints: record.clientHints,
    visitorId: hit.visitorId,
    // An identify without a visitor links none, so it needs no made-up one (decisions.md, POST /api/collect).
    cookieless: hit.visitorId === '' && identity === undefined,
    sessionId: hit.sessionId,
  };
}

function readEvent(logged: LoggedRecord, record: RawRecord): Hit | string {
  const event = readServerEvent(record.body);
  if (event instanceof FieldError) return `${event.field} is invalid`;
  const { context } = event;
  return {
    ...blankHit(logged, record),
    type: 'event',
    eventName: event.name,
    timestamp: event.timestamp ?? record.receivedAt,
    idempotencyKey: event.idempotencyKey,
    userId: event.userId,
    value: event.value,
    valueText: event.valueText,
    properties: event.properties,
    url: context.url,
    hostname: context.hostname,
    pathname: context.pathname,
    referrer: context.referrer,
    ip: context.ip === '' ? textOf(record.ip) : normalizeIp(context.ip),
    userAgent: context.userAgent || textOf(record.userAgent),
    ownUserAgent: context.userAgent !== '',
    deviceTypeSent: context.deviceType,
    platformSent: context.platform,
    visitorId: event.visitorId,
    sessionId: event.sessionId,
  };
}

function readServerIdentity(logged: LoggedRecord, record: RawRecord): Hit | string {
  const identity = readIdentity(record.body, () => bodyTextOf(logged.value));
  if (identity instanceof FieldError) return `${identity.field} is invalid`;
  return {
    ...blankHit(logged, record),
    type: 'identify',
    userId: identity.userId,
    identity,
    visitorId: identity.visitorId,
    ownUserAgent: false,
  };
}

/** `{url, referrer?, timestamp}`: a page view that a line of a log tells of; its address and user agent stand in the head. */
function readImport(logged: LoggedRecord, record: RawRecord): Hit | string {
  const { url, referrer, timestamp } = record.body;
  if (typeof url !== 'string' || url === '') return 'url is invalid';
  if (!isTime(timestamp)) return 'timestamp is invalid';
  return {
    ...blankHit(logged, record),
    timestamp,
    url,
    referrer: textOf(referrer),
    cookieless: true,
    lineDay: utcDay(timestamp),
  };
}

function blankHit(logged: LoggedRecord, record: RawRecord): Hit {
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
    clientHints: undefined,
    ip: textOf(record.ip),
    userAgent: textOf(record.userAgent),
    ownUserAgent: true,
    deviceTypeSent: '',
    platformSent: '',
    visitorId: '',
    cookieless: false,
    linked: false,
    lineDay: '',
    sessionId: '',
    site: undefined,
    names: undefined,
    bot: '',
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
