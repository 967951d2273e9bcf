import { CAMPAIGN_TAG_COLUMNS } from '@weir/domain/acquisition/campaign-tags';
import { type RecordsColumn, STAMP_COLUMNS } from '@weir/domain/records/records-columns';

/**
 * The columns of `records` whose values `weir replay diff` counts, by the step of the enricher that fills them. If only the counts of one column
 * differ, its step or the data that the step reads has changed. If more or fewer records became rows, the counts of all columns differ. Two of the
 * keys are not steps: the columns of `outcome` show how the record ended, and the columns of `decode` have values of the raw record itself.
 */
export const DIFF_COLUMNS: Readonly<Record<string, readonly RecordsColumn[]>> = {
  outcome: ['outcome', 'reason', 'rule_id'],
  decode: ['source', 'type', 'event_name', 'screen_width', 'screen_height', 'language', 'cookieless'],
  'put-bot': ['bot', 'bot_reason'],
  'put-user-agent': [
    'browser',
    'browser_version',
    'os',
    'os_version',
    'device_type',
    'device_brand',
    'device_model',
    'platform',
  ],
  'put-geo': ['country', 'region', 'city', 'timezone'],
  'put-source': [
    'hostname',
    'pathname',
    'referrer_domain',
    ...CAMPAIGN_TAG_COLUMNS,
    'click_id_type',
    'channel',
    'traffic_source',
  ],
};

/**
 * Columns that are not counted, for one of three reasons: nearly every row has another value, a replay does not change the value (for example
 * `site_id`), or the value comes from other rows of the same visit. `enrichment` is in this list because it is counted separately.
 */
export const NOT_COUNTED: readonly RecordsColumn[] = [
  'site_id',
  'event_id',
  'timestamp',
  'received_at',
  'visitor_id',
  'session_id',
  'user_id',
  'value',
  'value_text',
  'properties',
  'url',
  'referrer',
  'enrichment',
  'idempotency_key',
  'log_id',
  'raw_partition',
  'raw_offset',
  'detail',
  ...STAMP_COLUMNS,
];

/**
 * The parts of the column `enrichment`, and the steps whose values each of them can change. `steps`: the version of the code. `ua`: the library that
 * reads user agents. `lists`: sources and bots. `geo`: the geo data.
 */
export const VERSION_STEPS: Readonly<Record<string, readonly string[]>> = {
  steps: Object.keys(DIFF_COLUMNS),
  ua: ['put-bot', 'put-user-agent'],
  lists: ['put-bot', 'put-source'],
  geo: ['put-geo'],
};
