import { UTM_TAGS } from '@weir/domain/acquisition/campaign-tags';
import type { TopicRecord } from '../topics/topic-record.ts';

/**
 * The fields of an enriched record that a viewer may read. Fields that can name a person are left out, for example `user_id` and `url`. Fields
 * that a viewer does not need are left out too, for example `log_id`.
 */
export const SHOWN_FIELDS: readonly string[] = [
  ...[
    'outcome',
    'site_id',
    'source',
    'type',
    'event_name',
    'timestamp',
    'received_at',
    'value',
    'value_text',
    'properties',
  ],
  ...['hostname', 'pathname', 'referrer_domain', ...UTM_TAGS],
  ...['channel', 'traffic_source', 'country', 'region', 'city', 'language'],
  ...['browser', 'browser_version', 'os', 'os_version', 'device_type', 'bot', 'bot_reason'],
];

/**
 * Returns the record as a viewer may read it: only stored rows, without the IDs of visitors, visits and users. Undefined if the viewer may not read
 * the record at all: identifies have e-mail addresses, and dead letters have bodies as they were sent. The offset is null, because it counts the
 * records of all sites.
 */
export function shownToViewers(shown: TopicRecord): TopicRecord | undefined {
  const record = shown.record as Readonly<Record<string, unknown>> | null;
  if (record?.outcome !== 'row') return undefined;
  return {
    ...shown,
    offset: null,
    record: Object.fromEntries(Object.entries(record).filter(([name]) => SHOWN_FIELDS.includes(name))),
  };
}
