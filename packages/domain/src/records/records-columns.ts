import { CAMPAIGN_TAG_COLUMNS } from '../acquisition/campaign-tags.ts';

/**
 * The columns of the ClickHouse table `records`, in the order of the values in the line of an enriched record (JSONCompactEachRow).
 * A changed list is a new version: lines of two versions are never in the same insert.
 * docs/tables.md describes the columns, except these:
 * - `outcome`, `reason`: see outcome.ts. `rule_id`: the exclusion rule that dropped the hit, otherwise empty.
 * - `bot_reason`: why `bot` is not empty (judge-bot.ts of the enricher), otherwise empty.
 * - `detail`: JSON text, or empty. Its fields depend on the outcome:
 *   - `identify`: `{profile_id, user_id, email?, name?, image?, traits?, payment_customer_id?, signed?: true}` with only the fields
 *     that were sent; `{profile_id, user_id}` if the reason is `unlink`.
 *   - `dead`: `{topic, partition, offset, stage, error, payload}`.
 *   - `row` of a server event: `{user_visitor?: true, visit_session?: true, number?}`. `user_visitor`: the visitor was found through
 *     the user. `visit_session`: the session was found through the visit. `number`: the text of a value that was sent as a JSON
 *     number which a Float64 rounds.
 *   - any outcome of a redriven record has the last field `redriven: {log, partition, offset, attempt, at}` (redriven.ts).
 *   - any other `row`: `{session_moved: true}` if earlier rows of its visitor contain the old ID of a session whose ID has changed.
 */
export const RECORDS_COLUMNS_VERSION = 2;

const COLUMNS_OF_VERSION_1 = [
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

/**
 * The stamp of a row (docs/decisions/0033), since version 2:
 * - `visit_stamp`: 0 if the row has no stamp, 1 if it has one, 2 if its visit must be computed from all of its rows.
 * - `visit_started`: the start of the visit.
 * - `visit_new`, `visit_bounces`, `visit_seconds`: how the row changes the number of visits, of bounces, and the seconds of its visit.
 * - The others are attributes of the visit, as in `sessions`.
 */
export const STAMP_COLUMNS = [
  'visit_stamp',
  'visit_started',
  'visit_new',
  'visit_bounces',
  'visit_seconds',
  'visit_entry',
  'visit_source',
  'visit_channel',
  'visit_referrer_domain',
  'visit_utm_source',
  'visit_utm_medium',
  'visit_utm_campaign',
  'visit_utm_term',
  'visit_utm_content',
] as const;

export const RECORDS_COLUMNS = [...COLUMNS_OF_VERSION_1, ...STAMP_COLUMNS] as const;

export type RecordsColumn = (typeof RECORDS_COLUMNS)[number];

/** The column lists of all versions that a log can still contain, by version. The writer names the columns in its inserts. */
export const RECORDS_COLUMNS_BY_VERSION: Readonly<Record<number, readonly string[]>> = {
  1: COLUMNS_OF_VERSION_1,
  2: RECORDS_COLUMNS,
};

/**
 * The highest expected number of repeats in a row: a crash of the enricher repeats at most one batch of 1,024 outcomes, and a partition can
 * have several crashes. Among this many consecutive records of `events.enriched`, the record with the highest raw offset (docs/glossary.md) is therefore not a
 * repeat.
 */
export const REPEATS_MAX = 16_384;

/** Headers of an enriched record: the raw offset whose outcome it is, and the version of its column list. Decimal text. */
export const HEADER_RAW_OFFSET = 'o';
export const HEADER_COLUMNS_VERSION = 'v';
/** The header with received_at in Unix milliseconds. The writer begins a new batch when the month changes. */
export const HEADER_RECEIVED_AT = 'r';
/** The header with the ID of the replay that made the outcome. Only records of `events.replayed` have it. */
export const HEADER_REPLAY = 'p';
