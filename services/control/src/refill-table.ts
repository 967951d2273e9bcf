import type { Analytics } from '@weir/ports/analytics';

export interface RefillTask {
  readonly analytics: Pick<Analytics, 'select'>;
  readonly database: string;
  readonly change: (statement: string) => Promise<void>;
}

/**
 * Fills `table` again from `records`: runs the SELECT of `view`, which fills the table at each insert, on the records that match the condition
 * `stay`. Does nothing if all of these records are erased or expired.
 */
export async function refillTable(
  { analytics, database, change }: RefillTask,
  view: string,
  table: string,
  stay: string,
): Promise<void> {
  const records = `${database}.records`;
  const [some] = await analytics.select<{ found: number }>(
    `SELECT 1 AS found FROM ${records} WHERE ${stay} AND outcome NOT IN ('erased', 'expired') LIMIT 1`,
  );
  if (some === undefined) return;
  const [definition] = await analytics.select<{ as_select: string }>(
    'SELECT as_select FROM system.tables WHERE database = {database:String} AND name = {view:String}',
    { database, view },
  );
  const [head, tail, ...more] = (definition?.as_select ?? '').split(`FROM ${records}`);
  if (head === undefined || tail === undefined || more.length > 0) {
    throw new Error(`the view ${database}.${view} does not select from ${records} once`);
  }
  const rows = await analytics.select<{ name: string }>(
    'SELECT name FROM system.columns WHERE database = {database:String} AND table = {table:String} ORDER BY position',
    { database, table },
  );
  const columns = rows.map(({ name }) => name).join(', ');
  await change(
    `INSERT INTO ${database}.${table} (${columns}) SELECT ${columns} FROM (${head}FROM (SELECT * FROM ${records} WHERE ${stay}) AS records${tail})`,
  );
}
