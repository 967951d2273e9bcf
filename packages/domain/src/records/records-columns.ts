import {
  FIRST_TAG_COLUMNS,
  FIRST_UTM_TAGS,
  LATER_UTM_TAG_NAMES,
  LATER_UTM_TAGS,
  type LaterUtmTag,
  UTM_TAGS,
  type UtmTag,
} from '../acquisition/campaign-tags.ts';

/**
 * The columns of the ClickHouse table `records`, in the order of the values in the line of an enriched record (JSONCompactEachRow).
 * A changed list is a new version: the columns of the previous version, followed by the new columns. Lines of two versions are never in
 * the same insert. docs/tables.md describes the columns, except these:
 * - `outcome`, `reason`: see outcome.ts. `rule_id`: the exclusion rule that dropped the hit, otherwise empty.
 * - `bot_reason`: why `bot` is not empty (judge-bot.ts of the enricher), otherwise empty.
 * - `detail`: JSON text, or empty. Its fields depend on the outcome:
 *   - `identify`: `{profile_id, user_id, email?, name?, image?, traits?, payment_customer_id?, signed?: true}` with only the fields
 *     that were sent; `{profile_id, user_id}` if the reason is `unlink`.
 *   - `dead`: `{topic, partition, offset, stage, error, payload}`.
 *   - `row` of a server event: `{user_visitor?: true, visit_session?: true, number?}`. `user_visitor`: the event had no visitor ID, and
 *     got the visitor of its user. `visit_session`: the event had no session ID, and got the session of the visit. `number`: the text
 *     of a value that was sent as a JSON number which a Float64 rounds.
 *   - any other `row`: `{session_moved: true}` if earlier rows of its visitor contain the old ID of a session whose ID has changed.
 *   For each outcome of a redriven record, the last field is `redriven: {log, partition, offset, attempt, at}` (redriven.ts).
 */
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
  ...FIRST_TAG_COLUMNS,
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

const visitColumn = <Tag extends UtmTag>(tag: Tag) => `visit_${tag}` as const;

/** The columns of the stamp that version 2 of the list has. */
export const FIRST_STAMP_COLUMNS = [
  'visit_stamp',
  'visit_started',
  'visit_new',
  'visit_bounces',
  'visit_seconds',
  'visit_entry',
  'visit_source',
  'visit_channel',
  'visit_referrer_domain',
  ...FIRST_UTM_TAGS.map(visitColumn),
] as const;

/** The columns of the UTM tags that were added later. Each tag has two columns: its own, and one in the stamp. */
export const LATER_TAG_COLUMNS = LATER_UTM_TAG_NAMES.flatMap((tag) => [tag, visitColumn(tag)] as const);

/**
 * The stamp of a row (docs/decisions/0033), since version 2:
 * - `visit_stamp`: 0 if the row has no stamp, 1 if it has one, 2 if its visit must be computed from all of its rows.
 * - `visit_started`: the start of the visit.
 * - `visit_new`, `visit_bounces`, `visit_seconds`: how the row changes the number of visits, of bounces, and the seconds of its visit.
 * - The others are attributes of the visit, as in `sessions`.
 */
export const STAMP_COLUMNS = [...FIRST_STAMP_COLUMNS, ...LATER_UTM_TAG_NAMES.map(visitColumn)] as const;

export type ColumnOfVersion1 = (typeof COLUMNS_OF_VERSION_1)[number];
export type RecordsColumn = ColumnOfVersion1 | (typeof STAMP_COLUMNS)[number] | LaterUtmTag;

const tagVersions = LATER_UTM_TAGS as Readonly<Record<LaterUtmTag, number>>;
const laterVersions = [...new Set(Object.values<number>(tagVersions))];

/** The newest version of the list. */
export const RECORDS_COLUMNS_VERSION = Math.max(2, ...laterVersions);

/** The column lists of all versions that a log can still contain, by version. The writer names the columns in its inserts. */
export const RECORDS_COLUMNS_BY_VERSION: Readonly<Record<number, readonly RecordsColumn[]>> = {
  1: COLUMNS_OF_VERSION_1,
  ...Object.fromEntries([2, ...laterVersions].map((version) => [version, columnsOf(version)])),
};

export const RECORDS_COLUMNS: readonly RecordsColumn[] = columnsOf(RECORDS_COLUMNS_VERSION);

function columnsOf(version: number): readonly RecordsColumn[] {
  const later = LATER_UTM_TAG_NAMES.filter((tag) => tagVersions[tag] <= version);
  return [...COLUMNS_OF_VERSION_1, ...FIRST_STAMP_COLUMNS, ...later.flatMap((tag) => [tag, visitColumn(tag)])];
}

/** The attributes of a visit, each as a pair: the column of the stamp, and the column of `sessions` that has the same value. */
export const VISIT_ATTRIBUTES: readonly (readonly [stamp: RecordsColumn, ofSession: string])[] = [
  ['visit_entry', 'entry_path'],
  ['visit_source', 'traffic_source'],
  ['visit_channel', 'channel'],
  ['visit_referrer_domain', 'referrer_domain'],
  ...UTM_TAGS.map((tag) => [visitColumn(tag), tag] as const),
];

/**
 * The highest expected number of consecutive repeats. After a crash, the enricher can append the outcomes of one batch (at most 1,024) a
 * second time, and there can be several crashes. Of this many consecutive records of a partition of `events.enriched`, at least one is not a
 * repeat. So the highest raw offset (docs/glossary.md) among them is higher than those of all records before them.
 */
export const REPEATS_MAX = 16_384;

/** Headers of an enriched record: the raw offset whose outcome it is, and the version of its column list. Decimal text. */
export const HEADER_RAW_OFFSET = 'o';
export const HEADER_COLUMNS_VERSION = 'v';
/** The header with received_at in Unix milliseconds. The writer begins a new batch when the month changes. */
export const HEADER_RECEIVED_AT = 'r';
/** The header with the ID of the replay that made the outcome. Only records of `events.replayed` have it. */
export const HEADER_REPLAY = 'p';

/** Returns the raw offset of an enriched record, or NaN if the record does not have this header. */
export function rawOffsetOf({ headers }: { readonly headers: Readonly<Record<string, string>> }): number {
  return Number(headers[HEADER_RAW_OFFSET] ?? Number.NaN);
}
