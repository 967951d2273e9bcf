import { CAMPAIGN_TAG_COLUMNS } from '@weir/domain/acquisition/campaign-tags';
import type { RecordsColumn } from '@weir/domain/records/records-columns';

/**
 * The columns of `records` whose values a diff counts, by the step of the enricher that fills them: a changed column shows which step
 * changed. `decode`: the column is read from the record itself.
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

/** Identifiers, times, amounts and texts as sent: nearly every row has its own value. `enrichment` is counted apart. */
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
];
