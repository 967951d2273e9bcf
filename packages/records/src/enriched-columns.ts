/** The types of the columns of `events.enriched`, each with the TypeScript type of a decoded value. */
interface ColumnValues {
  text: string;
  /** A whole number of at least 0. Times are Unix milliseconds. */
  whole: number;
  integer: number;
  'number or null': number | null;
  boolean: boolean;
  object: Readonly<Record<string, unknown>>;
}
export type ColumnType = keyof ColumnValues;

/** The columns of version 1, in the order of the array. Their meaning: docs/topics.md. */
const COLUMNS_1 = {
  outcome: 'text',
  reason: 'text',
  rule_id: 'text',
  site_id: 'text',
  event_id: 'text',
  source: 'text',
  type: 'text',
  event_name: 'text',
  timestamp: 'whole',
  received_at: 'whole',
  visitor_id: 'text',
  session_id: 'text',
  user_id: 'text',
  cookieless: 'boolean',
  value: 'number or null',
  value_text: 'text',
  properties: 'object',
  url: 'text',
  hostname: 'text',
  pathname: 'text',
  referrer: 'text',
  referrer_domain: 'text',
  utm_source: 'text',
  utm_medium: 'text',
  utm_campaign: 'text',
  utm_term: 'text',
  utm_content: 'text',
  ref: 'text',
  source_param: 'text',
  via: 'text',
  click_id_type: 'text',
  channel: 'text',
  traffic_source: 'text',
  country: 'text',
  region: 'text',
  city: 'text',
  timezone: 'text',
  browser: 'text',
  browser_version: 'text',
  os: 'text',
  os_version: 'text',
  device_type: 'text',
  device_brand: 'text',
  device_model: 'text',
  platform: 'text',
  screen_width: 'whole',
  screen_height: 'whole',
  language: 'text',
  enrichment: 'text',
  bot: 'text',
  bot_reason: 'text',
  idempotency_key: 'text',
  log_id: 'text',
  raw_partition: 'whole',
  raw_offset: 'whole',
  detail: 'text',
} as const satisfies Readonly<Record<string, ColumnType>>;

/** The columns that version 2 has after those of version 1. */
const STAMP_COLUMNS = {
  visit_stamp: 'whole',
  visit_started: 'whole',
  visit_new: 'whole',
  visit_bounces: 'integer',
  visit_seconds: 'whole',
  visit_entry: 'text',
  visit_source: 'text',
  visit_channel: 'text',
  visit_referrer_domain: 'text',
  visit_utm_source: 'text',
  visit_utm_medium: 'text',
  visit_utm_campaign: 'text',
  visit_utm_term: 'text',
  visit_utm_content: 'text',
} as const satisfies Readonly<Record<string, ColumnType>>;

/** The column lists by their version, which is the value of the header `v`. */
export const ENRICHED_COLUMNS: Readonly<Record<number, Readonly<Record<string, ColumnType>>>> = {
  1: COLUMNS_1,
  2: { ...COLUMNS_1, ...STAMP_COLUMNS },
};

type Values<Types extends Readonly<Record<string, ColumnType>>> = {
  readonly [Name in keyof Types]: ColumnValues[Types[Name]];
};

/** One outcome of `events.enriched`. Records of version 1 do not have the columns of the stamp. */
export type EnrichedEvent = Values<typeof COLUMNS_1> & Partial<Values<typeof STAMP_COLUMNS>>;
