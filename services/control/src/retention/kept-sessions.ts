import { FIRST_UTM_TAGS, LATER_UTM_TAG_NAMES } from '@weir/domain/acquisition/campaign-tags';

/** The columns of `sessions_kept`. A row of this table has what deleted records add to one session. */
export const KEPT_COLUMNS =
  'site_id, made_for, session_id, part, visited, started_at, ended_at, pageviews, events, entry, exit, first';
/**
 * The values in the column `first`, in the order in which the view `session_parts` reads them. New tags are added at the end, because stored values
 * do not have them.
 */
export const KEPT_HEAD: readonly string[] = [
  ...['visitor_id', 'referrer_domain', 'channel', 'traffic_source', ...FIRST_UTM_TAGS],
  ...['country', 'region', 'city', 'browser', 'os', 'device_type', ...LATER_UTM_TAG_NAMES],
];
const HEAD = KEPT_HEAD.join(', ');
const NO_PLACE = 'bitNot(toUInt128(0))';

/**
 * The SQL of `KEPT_COLUMNS`, for a SELECT from `session_rows` or `session_parts` (alias `parts`) that groups by session. `part`: the SQL of the
 * column `part`. `sign`: the SQL of a number by which the counts of a row are multiplied.
 */
export function keptColumns(part: string, sign = '1'): string {
  const counted = (column: string): string => `toUInt64(greatest(sum(toInt64(parts.${column}) * ${sign}), 0))`;
  return `site_id, made_for, session_id, ${part}, max(visited), min(parts.started_at), max(parts.ended_at),
      ${counted('pageviews')}, ${counted('events')},
      min((if(visited, entry_place, ${NO_PLACE}), if(visited, entry_path, ''))),
      max((if(visited, exit_place, toUInt128(0)), if(visited, exit_path, ''))),
      min((if(visited, first_place, ${NO_PLACE}), if(visited, arrayStringConcat(arrayMap(text -> replaceAll(text, '\\0', ''), [${HEAD}]), '\\0'), '')))`;
}
