import { clusterClause } from './clickhouse-on-cluster.ts';
import type { Select } from './generation-fence.ts';

interface View {
  readonly name: string;
  readonly text: string;
}

/**
 * If `live` lacks migrations that were applied to `shadow`, makes the views of `live` the same as those of `shadow`, and then adds these migrations
 * to `live.schema_migrations`. Call it when the tables are exchanged and closed. After a kill, call it again: it continues.
 */
export async function takeMigrations(
  { run, select }: { run(statement: string): Promise<void>; readonly select: Select },
  { live, shadow, cluster }: { readonly live: string; readonly shadow: string; readonly cluster: string | undefined },
): Promise<void> {
  const hasList = await select(
    "SELECT name FROM system.tables WHERE database IN ({live:String}, {shadow:String}) AND name = 'schema_migrations'",
    { live, shadow },
  );
  if (hasList.length < 2) return;
  const missing = `FROM ${shadow}.schema_migrations WHERE name NOT IN (SELECT name FROM ${live}.schema_migrations)`;
  if ((await select(`SELECT name ${missing}`)).length === 0) return;

  const onCluster = clusterClause(cluster);
  const viewsOf = (database: string): Promise<readonly View[]> =>
    select<View>(
      `SELECT name, create_table_query AS text FROM system.tables
       WHERE database = {database:String} AND engine IN ('View', 'MaterializedView') ORDER BY name`,
      { database },
    );
  const wanted = (await viewsOf(shadow)).map(({ name, text }) => ({
    name,
    text: text.replaceAll(new RegExp(`\\b${shadow}\\.`, 'g'), `${live}.`),
  }));
  const found = new Map((await viewsOf(live)).map(({ name, text }) => [name, text]));
  const changed = wanted.filter(({ name, text }) => found.get(name) !== text);
  const removed = [...found.keys()].filter((name) => !wanted.some((view) => view.name === name));
  for (const name of [...changed.map((view) => view.name), ...removed]) {
    await run(`DROP VIEW IF EXISTS ${live}.${name}${onCluster} SYNC`);
  }
  // A view can read another view. If that view does not exist yet, the statement fails, and the next round of the loop repeats it.
  let left = changed;
  while (left.length > 0) {
    const failed: View[] = [];
    let problem: unknown;
    for (const view of left) {
      const head = /^(CREATE (?:MATERIALIZED )?VIEW) (\S+)/;
      try {
        await run(view.text.replace(head, `$1 IF NOT EXISTS $2${onCluster}`));
      } catch (error) {
        failed.push(view);
        problem = error;
      }
    }
    if (failed.length === left.length) throw problem;
    left = failed;
  }
  await run(`INSERT INTO ${live}.schema_migrations (name, digest) SELECT DISTINCT name, digest ${missing}`);
}
