import { type ColumnsOfLine, type ColumnType, typeOfColumn } from '../../domain/src/records/column-types.ts';
import { RECORDS_COLUMNS_BY_VERSION } from '../../domain/src/records/records-columns.ts';

export type { ColumnType };

/**
 * The columns of `events.enriched` and their types, in the order of the array, by the version of the list. The version is the value of
 * the header `v`. Meaning of the columns: docs/topics.md. The built package contains the imported files of packages/domain.
 */
export const ENRICHED_COLUMNS: Readonly<Record<number, Readonly<Record<string, ColumnType>>>> = Object.fromEntries(
  Object.entries(RECORDS_COLUMNS_BY_VERSION).map(([version, columns]) => [
    version,
    Object.fromEntries(columns.map((column) => [column, typeOfColumn(column)])),
  ]),
);

/** One outcome of `events.enriched`. Records of version 1 do not have the columns `visit_…`. */
export type EnrichedEvent = ColumnsOfLine;
