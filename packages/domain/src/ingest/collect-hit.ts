import schema from '../../../../schemas/collect-hit.schema.json' with { type: 'json' };
import { CAMPAIGN_TAGS, type CampaignTags, campaignTagsOfBody, hasCampaignTag } from '../acquisition/campaign-tags.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { toFieldError, validator } from '../json/json-schema.ts';
import { type BodyText, type Identity, type IdentitySource, readBrowserIdentity } from '../people/identity.ts';
import { isBlank, sent, sentValue } from './aliases.ts';
import { cutChars, type PageContext, pageContext, textOf } from './context.ts';
import { FieldError } from './field-error.ts';
import { brokenPropertiesRule } from './properties.ts';
import { type EventValue, readValue } from './value.ts';

export type HitType = 'pageview' | 'event' | 'identify';

/** A hit of the browser snippet (docs/api.md, Fields of a collect hit) after it was read: long texts are cut. An absent text is empty. */
export interface CollectHit extends PageContext, EventValue {
  readonly siteId: string;
  /** Empty in cookieless mode. */
  readonly visitorId: string;
  readonly sessionId: string;
  readonly type: HitType;
  readonly screenWidth: number | undefined;
  readonly screenHeight: number | undefined;
  readonly tags: CampaignTags;
  /** Empty unless `type` is `event`. */
  readonly eventName: string;
  readonly properties: JsonObject | undefined;
  /** Undefined unless `type` is `identify`. */
  readonly identity: Identity | undefined;
}

/** The fields of a checked hit that the gateway needs. */
export interface CollectHitFields {
  readonly site_id: string;
  readonly visitor_id: string;
  readonly session_id: string;
  readonly type: HitType;
  /** Undefined unless `type` is `event`. */
  readonly properties: JsonObject | undefined;
  readonly identity: Identity | undefined;
}

const validate = validator('collect-hit.schema.json');
const FIELDS = schema.properties;
const LONG = schema.$defs.long_text['x-cut-chars'];
const SHORT = schema.$defs.short_text['x-cut-chars'];
const SCREEN_MAX = 65_535;

/** Checks a body against every rule of docs/api.md, POST /api/collect. Returns the fields, or the first rule that is broken. */
export function checkCollectHit(
  body: JsonObject,
  text?: BodyText,
  source: IdentitySource = 'request',
): CollectHitFields | FieldError {
  const fields = pickHit(body);
  // An empty visitor ID means cookieless mode. In a request, an ID of only white space counts as missing. In a record it counts as an ID,
  // because older versions of Weir accepted it.
  if (source === 'request' && isBlank(body.visitor_id)) fields.visitor_id = undefined;
  if (!validate(fields)) return toFieldError(validate.errors, body, FIELDS);
  if (fields.event_properties !== undefined) {
    const broken = brokenPropertiesRule(fields.event_properties as JsonObject, FIELDS.event_properties);
    if (broken !== undefined) return new FieldError('event_properties', broken);
  }
  let identity: Identity | undefined;
  if (fields.type === 'identify') {
    const read = readBrowserIdentity(body.identity as JsonObject, text, source);
    if (read instanceof FieldError) return new FieldError('identity:', read.message);
    identity = read;
  }
  return {
    site_id: fields.site_id as string,
    visitor_id: fields.visitor_id as string,
    session_id: fields.session_id as string,
    type: fields.type as HitType,
    properties: fields.event_properties as JsonObject | undefined,
    identity,
  };
}

/** Reads the body of a record, which `checkCollectHit` of this or of an older version of Weir accepted. */
export function readCollectHit(body: JsonObject, text?: BodyText): CollectHit | FieldError {
  const checked = checkCollectHit(body, text, 'record');
  if (checked instanceof FieldError) return checked;
  const isEvent = checked.type === 'event';
  const { value, valueText } = readValue(isEvent ? sent(body.event_value) : undefined);
  const page = pageContext(long(body.url), long(body.pathname), short(body.hostname), long(body.referrer));
  return {
    siteId: checked.site_id,
    visitorId: checked.visitor_id,
    sessionId: checked.session_id,
    type: checked.type,
    url: page.url,
    pathname: page.pathname,
    hostname: page.hostname,
    referrer: page.referrer,
    screenWidth: screenSize(body.screen_width),
    screenHeight: screenSize(body.screen_height),
    tags: campaignTagsOfBody(body, short),
    eventName: isEvent ? textOf(body.event_name) : '',
    value,
    valueText,
    properties: checked.properties,
    identity: checked.identity,
  };
}

type PickedHit = Partial<Record<keyof typeof FIELDS, Json | undefined>>;

/** The fields that the schema checks. Fields of another type of hit are left out: like unknown fields, they are ignored. */
function pickHit(body: JsonObject): PickedHit {
  const isEvent = body.type === 'event';
  const fields: PickedHit = {
    site_id: sent(body.site_id),
    // An empty text means cookieless mode here, so it is not an absent value.
    visitor_id: sentValue(body.visitor_id),
    session_id: sentValue(body.session_id),
    type: sent(body.type),
    url: sent(body.url),
    pathname: sent(body.pathname),
    hostname: sent(body.hostname),
    referrer: sent(body.referrer),
    screen_width: sentValue(body.screen_width),
    screen_height: sentValue(body.screen_height),
    event_name: isEvent ? sent(body.event_name) : undefined,
    event_value: isEvent ? sent(body.event_value) : undefined,
    event_properties: isEvent ? sentValue(body.event_properties) : undefined,
    identity: body.type === 'identify' ? identityOf(body.identity) : undefined,
  };
  // Any text is a valid tag, so the validator gets only tags that are not texts. Each further field would make the validation of every hit slower.
  if (hasCampaignTag(body)) {
    for (const tag of CAMPAIGN_TAGS) {
      const value = sent(body[tag]);
      if (value !== undefined && typeof value !== 'string') fields[tag] = value;
    }
  }
  return fields;
}

/**
 * The value of `identity` for the schema. An object is replaced by a placeholder, because `readBrowserIdentity` checks it: that function
 * knows the aliases of the fields. Any other value is passed unchanged, and the schema refuses it.
 */
function identityOf(identity: Json | undefined): Json | undefined {
  return isJsonObject(identity) ? PLACEHOLDER : (identity ?? undefined);
}
const PLACEHOLDER: JsonObject = { user_id: 'checked by readBrowserIdentity' };

function long(value: Json | undefined): string {
  return cutChars(textOf(value), LONG);
}
function short(value: Json | undefined): string {
  return cutChars(textOf(value), SHORT);
}

/** Rounds to whole pixels. A number that cannot be the size of a screen counts as not sent. */
function screenSize(value: Json | undefined): number | undefined {
  if (typeof value !== 'number') return undefined;
  const pixels = Math.round(value);
  return pixels >= 0 && pixels <= SCREEN_MAX ? pixels : undefined;
}
