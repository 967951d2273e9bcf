import type { Row } from '@weir/testkit/weir-client';

type Select = (query: string) => Promise<readonly Row[]>;

/** Views whose rows contain the time of the query. Their digests differ at each query, so they are left out. */
const OF_THE_MOMENT = ['links_with_time', 'users_with_time'];

/**
 * Resolves with one digest for the table `records` and one for each view, except those in `OF_THE_MOMENT`. The rows are sorted first. Two databases
 * with the same rows therefore have the same digests.
 */
export async function tableDigests(select: Select, database: string): Promise<Readonly<Record<string, string>>> {
  const tables = await select(
    `SELECT name FROM system.tables WHERE database = '${database}' AND (engine = 'View' OR name = 'records') ORDER BY name`,
  );
  const digests: Record<string, string> = {};
  for (const table of tables) {
    const name = String(table.name);
    if (OF_THE_MOMENT.includes(name)) continue;
    const [row] = await select(
      `SELECT count() AS n, hex(SHA256(arrayStringConcat(arraySort(groupArray(formatRow('JSONEachRow', *)))))) AS digest FROM ${database}.${name}`,
    );
    digests[name] = `${row?.n} ${row?.digest}`;
  }
  return digests;
}
