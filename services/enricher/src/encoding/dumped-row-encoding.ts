import { type DumpedRow, PROFILE_DETAIL } from '@weir/domain/dump/dumped-row';
import { profileId } from '@weir/domain/people/profile-id';
import { typeOfColumn } from '@weir/domain/records/column-types';
import { RECORDS_COLUMNS, type RecordsColumn, STAMP_COLUMNS } from '@weir/domain/records/records-columns';
import { type Redriven, withoutRedriven, withRedriven } from '@weir/domain/records/redriven';
import { jsonText } from './json-text.ts';

/**
 * Empty values for the stamp, that is, the columns that begin with `visit_` and describe the visit of a row. For rows of a dump (a file of `weir
 * export everything`), reports compute the visit from its rows instead.
 */
const NO_STAMP = new Map<RecordsColumn, string>(
  STAMP_COLUMNS.map((column) => [column, typeOfColumn(column) === 'text' ? '""' : '0']),
);

interface NewPlace {
  readonly siteId: string;
  readonly logId: string;
  readonly partition: number;
  readonly offset: number;
  readonly redriven: Redriven | undefined;
}

/**
 * Encodes a row of a dump as JSONCompactEachRow with a line feed. The site and the log position are those of the raw record that contains the row.
 * The stamp is empty. All other columns except `detail` have the values of the dump.
 */
export function encodeDumpedRow(
  row: DumpedRow,
  { siteId, partition, offset, redriven }: Omit<NewPlace, 'logId'>,
  logId: string,
): string {
  const place = { siteId, logId, partition, offset, redriven };
  const values = RECORDS_COLUMNS.map((column) => NO_STAMP.get(column) ?? columnJson(column, row, place));
  return `[${values.join(',')}]\n`;
}

function columnJson(column: RecordsColumn, { values, outcome, userId }: DumpedRow, place: NewPlace): string {
  switch (column) {
    case 'site_id':
      return jsonText(place.siteId);
    case 'log_id':
      return jsonText(place.logId);
    case 'raw_partition':
      return String(place.partition);
    case 'raw_offset':
      return String(place.offset);
    case 'properties':
      // The dump has this column as JSON text. It is inserted unchanged, because parsing it would round large numbers.
      return values.properties as string;
    case 'detail':
      return jsonText(detailOf(values.detail as string, outcome === 'identify' ? userId : '', place));
    default: {
      const value = values[column] ?? null;
      return typeof value === 'string' ? jsonText(value) : JSON.stringify(value);
    }
  }
}

/**
 * Returns the value of the column `detail`. For an identify, it contains a new profile ID, because the ID depends on the site, and the dump
 * can come from another site. The field `redriven` of the dump is removed, because it is a position in the log from which the row was
 * exported. If the raw record that contains the row was redriven (docs/glossary.md), `detail` gets the field `redriven` of that record.
 */
function detailOf(detail: string, userId: string, { siteId, redriven }: NewPlace): string {
  const own = withRedriven(withoutRedriven(detail), redriven);
  return userId === '' ? own : own.replace(PROFILE_DETAIL, `{"profile_id":"${profileId(siteId, userId)}"`);
}
