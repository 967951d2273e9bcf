import { sentProperties } from '@weir/domain/ingest/server-event';
import type { Json, JsonObject } from '@weir/domain/json/json';
import { FIRST_STAMP_COLUMNS, LATER_TAG_COLUMNS, type RecordsColumn } from '@weir/domain/records/records-columns';
import { withRedriven } from '@weir/domain/records/redriven';
import type { StoredEvent } from '../pipeline/enriched-event.ts';
import { NO_STAMP_JSON } from '../session/visit-stamp.ts';
import { NO_BOT } from '../user-agent/judge-bot.ts';
import { NO_USER_AGENT_COLUMNS, type UserAgentColumns } from '../user-agent/user-agent-columns.ts';
import { exactJson } from './exact-json.ts';
import { NO_GEO } from './geo-columns.ts';
import { jsonText } from './json-text.ts';
import { joinLaterTags, NO_LATER_TAGS } from './later-tags.ts';
import { timeText } from './milliseconds-text.ts';
import { type RowColumns, sourceOf } from './row-encoding.ts';
import { NO_PAGE_JSON, NO_SOURCE_JSON, PAGE_COLUMNS, SOURCE_COLUMNS } from './source-columns.ts';

/** The log ID, and functions that encode columns and cache the results. All events use the same caches. */
export interface RowSources {
  readonly logId: string;
  /** The encoded column `enrichment`. */
  readonly enrichmentJson: () => string;
  /** The encoded column `timezone`, from the time zone that the page's script sent. Undefined if this is not a valid time zone. */
  readonly timezoneJson: (sent: string) => string | undefined;
  /** The encoded column `language`, from an `Accept-Language` header. */
  readonly languageJson: (acceptLanguage: string) => string;
}

/**
 * The table of how each column of `records` is encoded, in the order of RECORDS_COLUMNS. An entry holds all columns of one
 * subject, because one entry for each column made the enrichment of a record 5 % slower.
 */
export function createRowColumns(sources: RowSources): readonly RowColumns[] {
  const logIdJson = jsonText(sources.logId);
  return [
    {
      columns: ['outcome', 'reason', 'rule_id'],
      ofEvent: () => '"row","",""',
      ofBare: ({ outcome, reason, ruleId }) => `"${outcome}","${reason}",${jsonText(ruleId)}`,
    },
    {
      columns: ['site_id', 'event_id', 'source', 'type', 'event_name'],
      ofEvent: (event) =>
        `${jsonText(event.siteId)},"${event.eventId}","${sourceOf(event)}","${event.type}",${jsonText(event.eventName)}`,
      ofBare: ({ siteId, eventId, source, type }) => `${jsonText(siteId)},"${eventId}","${source}","${type}",""`,
    },
    {
      columns: ['timestamp', 'received_at'],
      ofEvent: ({ timestamp, receivedAt }) => `${timeText(timestamp)},${timeText(receivedAt)}`,
      ofBare: ({ receivedAt }) => `${receivedAt},${receivedAt}`,
    },
    {
      columns: ['visitor_id', 'session_id', 'user_id', 'cookieless'],
      ofEvent: ({ visitorId, sessionId, userId, cookieless }) =>
        `${jsonText(visitorId)},${jsonText(sessionId)},${jsonText(userId)},${cookieless}`,
      ofBare: ({ visitorId, userId }) => `${jsonText(visitorId)},"",${jsonText(userId)},false`,
    },
    ofEventOnly(['value', 'value_text', 'properties'], NO_VALUE_JSON, valueJson),
    ofEventOnly([...PAGE_COLUMNS, ...SOURCE_COLUMNS], `${NO_PAGE_JSON},${NO_SOURCE_JSON}`, (event) => event.sourceJson),
    ofEventOnly(['country', 'region', 'city', 'timezone'], NO_GEO.json, ({ geo = NO_GEO, timezoneSent }) => {
      const sentJson = sources.timezoneJson(timezoneSent);
      return sentJson === undefined ? geo.json : `${geo.placeJson},${sentJson}`;
    }),
    ofEventOnly(
      ['browser', 'browser_version', 'os', 'os_version', 'device_type', 'device_brand', 'device_model', 'platform'],
      userAgentJson(NO_USER_AGENT_COLUMNS, '', ''),
      (event) =>
        userAgentJson(event.userAgentColumns ?? NO_USER_AGENT_COLUMNS, event.deviceTypeSent, event.platformSent),
    ),
    ofEventOnly(
      ['screen_width', 'screen_height', 'language'],
      '0,0,""',
      ({ screenWidth, screenHeight, acceptLanguage }) =>
        `${screenWidth},${screenHeight},${sources.languageJson(acceptLanguage)}`,
    ),
    {
      columns: ['enrichment', 'bot', 'bot_reason'],
      ofEvent: ({ bot }) => `${sources.enrichmentJson()},${bot.json}`,
      ofBare: () => `${sources.enrichmentJson()},${NO_BOT.json}`,
    },
    {
      columns: ['idempotency_key', 'log_id', 'raw_partition', 'raw_offset', 'detail'],
      ofEvent: (event) =>
        `${jsonText(event.idempotencyKey)},${logIdJson},${event.partition},${event.offset},${event.redriven === undefined ? detailJson(event) : redrivenDetailJson(event)}`,
      ofBare: ({ partition, offset, detail, redriven }) =>
        `"",${logIdJson},${partition},${offset},${jsonText(withRedriven(detail, redriven))}`,
    },
    STAMP_AND_LATER_TAGS,
  ];
}

/** An entry for columns that have the value `emptyJson` if the outcome is not a row of `events`. */
function ofEventOnly(
  columns: readonly RecordsColumn[],
  emptyJson: string,
  ofEvent: (event: StoredEvent) => string,
): RowColumns {
  return { columns, ofEvent, ofBare: () => emptyJson };
}

const STAMP_AND_LATER_TAGS =
  LATER_TAG_COLUMNS.length === 0
    ? ofEventOnly(FIRST_STAMP_COLUMNS, NO_STAMP_JSON, (event) => event.stampJson)
    : ofEventOnly(
        [...FIRST_STAMP_COLUMNS, ...LATER_TAG_COLUMNS],
        joinLaterTags(NO_STAMP_JSON, NO_LATER_TAGS),
        ({ stampJson, visitSourceJson }) => joinLaterTags(stampJson, visitSourceJson),
      );

/** If a server event contains a device type or a platform, this value replaces the value from the user agent. */
function userAgentJson(columns: UserAgentColumns, deviceTypeSent: string, platformSent: string): string {
  if (deviceTypeSent === '' && platformSent === '') return columns.json;
  const deviceType = deviceTypeSent === '' ? columns.deviceTypeJson : jsonText(deviceTypeSent);
  const platform = platformSent === '' ? columns.osJson : jsonText(platformSent);
  return `${columns.browserJson},${deviceType},${columns.modelJson},${platform}`;
}

const NO_VALUE_JSON = 'null,"",{}';

function valueJson({ value, valueText, properties, kind, raw }: StoredEvent): string {
  if (value === undefined && valueText === '' && properties === undefined) return NO_VALUE_JSON;
  const sentAs = kind === 'collect' ? sentCollectProperties : sentProperties;
  return `${value ?? 'null'},${jsonText(valueText)},${properties === undefined ? '{}' : exactJson(properties, raw, sentAs)}`;
}

const sentCollectProperties = (body: JsonObject): Json | undefined => body.event_properties;

/**
 * The column `detail` of a late hit that has changed the ID of a session, so that earlier rows of the visitor have another ID. The table
 * `moved_hours` has the visitor and the hour of each row with this `detail`.
 */
const MOVED_JSON = jsonText('{"session_moved":true}');

function redrivenDetailJson(event: StoredEvent): string {
  return jsonText(withRedriven(JSON.parse(detailJson(event)) as string, event.redriven));
}

function detailJson({
  kind,
  sessionMoved,
  linked,
  visitorId,
  sessionId,
  sessionSent,
  numberText,
}: StoredEvent): string {
  if (kind !== 'event') return sessionMoved ? MOVED_JSON : '""';
  const userVisitor = linked && visitorId !== '';
  const visitSession = sessionId !== '' && !sessionSent;
  if (!userVisitor && !visitSession && numberText === '') return '""';
  return jsonText(
    JSON.stringify({
      ...(userVisitor ? { user_visitor: true } : {}),
      ...(visitSession ? { visit_session: true } : {}),
      ...(numberText === '' ? {} : { number: numberText }),
    }),
  );
}
