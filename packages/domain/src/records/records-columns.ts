import { CAMPAIGN_TAG_COLUMNS } from '../acquisition/campaign-tags.ts';

/**
 * The columns of the ClickHouse table `records`, in the order in which an enriched record's line (JSONCompactEachRow)
 * gives them. A change of this list is a new version: lines of two versions never share an insert.
 * Meaning: docs/tables.md. Columns that are not in it:
 * - `outcome`, `reason`: see outcome.ts; `rule_id`: the exclusion rule that dropped the hit, else empty.
 * - `bot_reason`: why `bot` is not empty (the enricher's bot-verdict.ts), else empty.
 * - `detail`: JSON text, else empty. Of an `identify`: `{profile_id, user_id, email?, name?, image?, traits?, payment_customer_id?, signed?: true}`
 *   with only the fields that were sent, and `{profile_id, user_id}` where its `reason` is `unlink`; of a `dead`:
 *   `{topic, partition, offset, stage, error, payload}`; of a `row` that a server sent, what the columns can't tell:
 *   `{user_visitor?: true, visit_session?: true, number?}`: the visitor was found through the user, the session through the visit,
 *   and the value's own text where it was sent as a JSON number that a Float64 rounds; of another `row` `{session_moved: true}`,
 *   where rows of its visitor before it have the ID of a session that has got another one.
 */
export const RECORDS_COLUMNS_VERSION = 1;

export const RECORDS_COLUMNS = [
  'outcome',
  'reason',
  'rule_id',
  'site_id',
  'event_id',
  'source',
  'type',
  'event_name',
  'timestamp',
  'received_at',
  'visitor_id',
  'session_id',
  'user_id',
  'cookieless',
  'value',
  'value_text',
  'properties',
  'url',
  'hostname',
  'pathname',
  'referrer',
  'referrer_domain',
  ...CAMPAIGN_TAG_COLUMNS,
  'click_id_type',
  'channel',
  'traffic_source',
  'country',
  'region',
  'city',
  'timezone',
  'browser',
  'browser_version',
  'os',
  'os_version',
  'device_type',
  'device_brand',
  'device_model',
  'platform',
  'screen_width',
  'screen_height',
  'language',
  'enrichment',
  'bot',
  'bot_reason',
  'idempotency_key',
  'log_id',
  'raw_partition',
  'raw_offset',
  'detail',
] as const;

export type RecordsColumn = (typeof RECORDS_COLUMNS)[number];

/** Column lists of every version that a log may still hold, by version: the writer names them in its inserts. */
export const RECORDS_COLUMNS_BY_VERSION: Readonly<Record<number, readonly string[]>> = { 1: RECORDS_COLUMNS };

/** Headers of an enriched record: the raw offset it is the outcome of, and its line's column list version. Decimal text. */
export const HEADER_RAW_OFFSET = 'o';
export const HEADER_COLUMNS_VERSION = 'v';
/** Unix milliseconds of received_at: the writer cuts a batch where the month changes. */
export const HEADER_RECEIVED_AT = 'r';
