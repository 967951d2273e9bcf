import type { Json, JsonObject } from '@weir/domain/json';
import type { DropReason, IdentifyReason, Outcome } from '@weir/domain/outcome';
import { sentProperties } from '@weir/domain/server-event';
import { NO_NAMES } from './agent-names.ts';
import { exactJson } from './exact-json.ts';
import type { Hit } from './hit.ts';
import { jsonText } from './json-text.ts';
import { NOWHERE } from './place-text.ts';

/**
 * The lines of `records`: pieces of JSON put side by side in the order of records-columns.ts, since serialising fifty values
 * anew for each record would cost more than all steps together. Its test checks every column's place.
 */
export interface LineTexts {
  readonly logIdJson: string;
  /** Column `enrichment`. */
  readonly enrichmentJson: () => string;
  /** Column `timezone` of what the page's script says; undefined where that is none. */
  readonly timezoneJson: (sent: string) => string | undefined;
  /** Column `language` of an `Accept-Language`. */
  readonly languageJson: (acceptLanguage: string) => string;
}

/** What a line without a hit's data holds. */
export interface BareLine {
  readonly outcome: Exclude<Outcome, 'row'>;
  readonly reason: string;
  readonly ruleId: string;
  readonly siteId: string;
  readonly eventId: string;
  readonly source: string;
  readonly type: string;
  readonly receivedAt: number;
  readonly visitorId: string;
  readonly userId: string;
  readonly partition: number;
  readonly offset: number;
  readonly detail: string;
}

/** Columns `url` to `traffic_source`. */
const NO_SOURCE_JSON = `${'"",'.repeat(15)}""`;

/** Column `detail` of a row that tells `sessions_moved` of its visitor. */
const MOVED_JSON = jsonText('{"session_moved":true}');

export function rowLine(hit: Hit, texts: LineTexts): string {
  const names = hit.names ?? NO_NAMES;
  const place = hit.place ?? NOWHERE;
  const deviceType = hit.deviceTypeSent === '' ? names.deviceTypeJson : jsonText(hit.deviceTypeSent);
  const platform = hit.platformSent === '' ? names.osJson : jsonText(hit.platformSent);
  return `["row","","",${jsonText(hit.siteId)},"${hit.eventId}","${sourceOf(hit)}","${hit.type}",${jsonText(hit.eventName)},${
    hit.timestamp
  },${hit.receivedAt},${jsonText(hit.visitorId)},${jsonText(hit.sessionId)},${jsonText(hit.userId)},${
    hit.cookieless
  },${valueJson(hit)},${hit.sourceJson},${place.json},${texts.timezoneJson(hit.timezoneSent) ?? place.timezoneJson},${names.browserJson},${deviceType},${names.modelJson},${platform},${
    hit.screenWidth
  },${hit.screenHeight},${texts.languageJson(hit.acceptLanguage)},${texts.enrichmentJson()},${hit.bot.json},${jsonText(
    hit.idempotencyKey,
  )},${texts.logIdJson},${hit.partition},${hit.offset},${
    hit.kind === 'event' ? eventDetailJson(hit) : hit.sessionMoved ? MOVED_JSON : '""'
  }]\n`;
}

/** Column `detail` of a server event. */
function eventDetailJson({ linked, visitorId, sessionId, sessionSent, numberText }: Hit): string {
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

/** Columns `value` to `properties`. */
function valueJson({ value, valueText, properties, kind, raw }: Hit): string {
  if (value === undefined && valueText === '' && properties === undefined) return 'null,"",{}';
  const sentAs = kind === 'collect' ? sentCollectProperties : sentProperties;
  return `${value ?? 'null'},${jsonText(valueText)},${properties === undefined ? '{}' : exactJson(properties, raw, sentAs)}`;
}

const sentCollectProperties = (body: JsonObject): Json | undefined => body.event_properties;

export function bareLine(line: BareLine, texts: LineTexts): string {
  return `["${line.outcome}","${line.reason}",${jsonText(line.ruleId)},${jsonText(line.siteId)},"${line.eventId}","${
    line.source
  }","${line.type}","",${line.receivedAt},${line.receivedAt},${jsonText(line.visitorId)},"",${jsonText(
    line.userId,
  )},false,null,"",{},${NO_SOURCE_JSON},${NOWHERE.json},${NOWHERE.timezoneJson},${NO_NAMES.browserJson},"",${NO_NAMES.modelJson},"",0,0,"",${texts.enrichmentJson()},"","","",${
    texts.logIdJson
  },${line.partition},${line.offset},${jsonText(line.detail)}]\n`;
}

/** Column `source`. */
export function sourceOf(hit: Hit): 'collect' | 'server' | 'import' {
  return hit.kind === 'collect' || hit.kind === 'import' ? hit.kind : 'server';
}

/** A dropped hit leaves no data but its outcome and reason; an identify says whom it names in `detail`. */
export function endedLine(
  hit: Hit,
  outcome: 'duplicate' | 'dropped' | 'identify',
  reason: DropReason | IdentifyReason | '',
  ruleId: string,
  detail: string,
): BareLine {
  const isIdentify = outcome === 'identify';
  return {
    outcome,
    reason,
    ruleId,
    siteId: hit.siteId,
    eventId: hit.eventId,
    source: sourceOf(hit),
    type: hit.type,
    receivedAt: hit.receivedAt,
    visitorId: isIdentify ? hit.visitorId : '',
    userId: isIdentify ? hit.userId : '',
    partition: hit.partition,
    offset: hit.offset,
    detail,
  };
}
