import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '@weir/testkit/weir-client';

export const REBUILD_MIGRATION = '900_order_of_records.sql';
/** The sorting key of `records` after the migration. */
export const REBUILT_ORDER = 'site_id, visitor_id, timestamp';

/**
 * Writes a migration into a folder of migrations. The migration must rebuild `records`, because it changes the sorting key. The columns and
 * other settings of the new table are those of `weir.records`. The migration also adds a view.
 */
export async function addRebuildMigration(
  folder: string,
  select: (query: string) => Promise<readonly Row[]>,
): Promise<void> {
  const [row] = await select(
    "SELECT create_table_query AS text FROM system.tables WHERE database = 'weir' AND name = 'records'",
  );
  const table = String(row?.text)
    .replace('CREATE TABLE weir.records', 'CREATE TABLE IF NOT EXISTS records')
    .replace(/generation_\d+/, 'generation_0')
    .replace(/ORDER BY \(site_id, .*?visitor_id, timestamp\)/, `ORDER BY (${REBUILT_ORDER})`)
    .replace(/ COMMENT '[^']*'$/, '');
  if (!table.includes(REBUILT_ORDER)) throw new Error(`the order of records was not found: ${table}`);
  writeFileSync(
    join(folder, REBUILD_MIGRATION),
    `-- rebuild: a test's migration\nDROP TABLE IF EXISTS records SYNC;\n${table};\nCREATE OR REPLACE VIEW records_in_order AS SELECT count() AS n FROM records;\n`,
  );
}

/** Returns a query for the sorting key of the table `records` in a database. */
export const ORDER_OF = (database: string): string =>
  `SELECT sorting_key AS text FROM system.tables WHERE database = '${database}' AND name = 'records'`;
