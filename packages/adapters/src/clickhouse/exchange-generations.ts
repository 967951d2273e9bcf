import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import { clusterClause } from './clickhouse-on-cluster.ts';
import { type Fence, fenceColumn, readFence, type Select } from './generation-fence.ts';
import { runningInserts } from './running-inserts.ts';
import { takeMigrations } from './take-migrations.ts';

export interface Exchange {
  /** The database that Weir uses. */
  readonly live: string;
  /** The database whose tables replace those of `live`. All migrations were applied to it. */
  readonly shadow: string;
  /** The generation (docs/glossary.md) of `live` after the exchange: one more than before the first attempt. */
  readonly generation: number;
  /** The names of the tables, from schemas/clickhouse/stored-tables.json. */
  readonly tables: readonly string[];
  readonly dictionaries: readonly string[];
  readonly cluster: string | undefined;
  /** How long to wait for the end of inserts that began before the tables were closed. Default: 10,000. */
  readonly insertsEndWithinMs?: number;
}

export interface Statements {
  run(statement: string): Promise<void>;
  readonly select: Select;
}

const INSERTS_END_WITHIN_MS = 10_000;
const CHECK_EVERY_MS = 20;

/**
 * Exchanges the tables of two databases, so that `live` has the next generation (n) and `shadow` the former one (n-1). Views are not
 * exchanged: a view finds its tables by name, so it reads the exchanged tables. A closed table `records` refuses inserts
 * (generation-fence.ts).
 *
 *     step                                                    records in live, in shadow     inserts into live
 *     ------------------------------------------------------  -----------------------------  ---------------------------
 *     marks the shadow's tables with the generation n         n-1            any             accepted
 *     closes the shadow's tables                              n-1            n closed        accepted
 *     closes the live tables                                  n-1 closed     n closed        refused
 *     waits until no insert into live is running              n-1 closed     n closed        refused
 *     exchanges each table that is not exchanged yet          n closed       n-1 closed      refused
 *     takes views and migrations that only the shadow had     n closed       n-1 closed      refused
 *     reloads the dictionaries                                n closed       n-1 closed      refused
 *     opens the live tables                                   n              n-1 closed      accepted
 *     opens the shadow's tables                               n              n-1             accepted
 *
 * Resolves when `live` has generation n and is open. Another call with the same arguments then changes nothing. After a failure
 * or a kill at any statement, call it again with the same arguments: it continues, because the comment of each table shows
 * whether the table was exchanged. If the inserts do not end in time, it opens the live tables again, exchanges no table,
 * and rejects with `analytics_unavailable`. Rejects with `analytics_refused` if the generation of `live` is neither n-1 nor n.
 */
export async function exchangeGenerations(statements: Statements, exchange: Exchange): Promise<void> {
  const { live, shadow, generation } = exchange;
  const { select } = statements;
  const fences = createFences(statements, exchange.cluster);
  const found = await readFence(select, live);
  if (found.generation === generation && !found.closed) return openFormer(statements, exchange);
  if (found.generation !== generation && found.generation !== generation - 1) {
    throw new DependencyError(
      'analytics_refused',
      `the tables of ${live} have generation ${found.generation}: an exchange cannot give them generation ${generation}`,
    );
  }

  let left = await markShadow(statements, exchange);
  if (left.length === exchange.tables.length) {
    await fences.set(shadow, { generation, closed: true });
    await fences.set(live, { generation: generation - 1, closed: true });
    await untilInsertsEnd(statements, exchange).catch(async (error: unknown) => {
      await fences.set(live, { generation: generation - 1, closed: false });
      throw error;
    });
  }
  if (left.length > 0) {
    const pairs = left.map((table) => `${live}.${table} AND ${shadow}.${table}`).join(', ');
    await statements.run(`EXCHANGE TABLES ${pairs}${clusterClause(exchange.cluster)}`);
  }
  left = await notExchanged(select, exchange);
  if (left.length > 0) {
    throw new DependencyError('analytics_unavailable', `ClickHouse did not exchange the tables ${left.join(', ')}`);
  }
  await takeMigrations(statements, exchange);
  for (const dictionary of exchange.dictionaries) {
    await statements.run(`SYSTEM RELOAD DICTIONARY${clusterClause(exchange.cluster)} ${live}.${dictionary}`);
  }
  await fences.set(live, { generation, closed: false });
  await openFormer(statements, exchange);
}

/** Opens the former tables of `live`, which are now in `shadow`. An exchange that undoes this one needs open tables. */
async function openFormer(statements: Statements, { shadow, generation, cluster }: Exchange): Promise<void> {
  const former = await readFence(statements.select, shadow);
  if (former.generation !== generation - 1 || !former.closed) return;
  await createFences(statements, cluster).set(shadow, { generation: generation - 1, closed: false });
}

/**
 * Writes the generation into the comment of each table of `shadow` that is not exchanged yet. Returns the names of these tables. An exchange moves
 * the comment together with the table, so a table of `live` with this comment was exchanged.
 */
async function markShadow(statements: Statements, exchange: Exchange): Promise<readonly string[]> {
  const { shadow } = exchange;
  const left = await notExchanged(statements.select, exchange);
  const marked = await markedTables(statements.select, exchange, shadow);
  for (const table of left) {
    if (marked.has(table)) continue;
    const mark = markOf(exchange);
    await statements.run(`ALTER TABLE ${shadow}.${table}${clusterClause(exchange.cluster)} MODIFY COMMENT '${mark}'`);
  }
  return left;
}

async function notExchanged(select: Select, exchange: Exchange): Promise<readonly string[]> {
  const done = await markedTables(select, exchange, exchange.live);
  return exchange.tables.filter((table) => !done.has(table));
}

async function markedTables(select: Select, exchange: Exchange, database: string): Promise<ReadonlySet<string>> {
  const query =
    'SELECT name FROM system.tables WHERE database = {database:String} AND comment = {mark:String} AND name IN {tables:Array(String)}';
  const rows = await select<{ name: string }>(query, { database, mark: markOf(exchange), tables: exchange.tables });
  return new Set(rows.map(({ name }) => name));
}

const markOf = ({ generation }: Exchange): string => `generation ${generation}`;

interface Fences {
  set(database: string, fence: Fence): Promise<void>;
}

function createFences({ run, select }: Statements, cluster: string | undefined): Fences {
  return {
    async set(database, { generation, closed }) {
      const found = await readFence(select, database);
      if (found.generation === generation && found.closed === closed) return;
      // One statement adds a column and drops the other one, so that there is always exactly one. RENAME COLUMN would rewrite every part.
      await run(
        `ALTER TABLE ${database}.records${clusterClause(cluster)} ADD COLUMN ${fenceColumn(generation, closed)} UInt8 EPHEMERAL, ` +
          `DROP COLUMN ${fenceColumn(found.generation, found.closed)}`,
      );
    },
  };
}

/**
 * Waits until no insert into `live` is running. While an insert runs, ClickHouse finds the tables of the materialized views by name. So an insert
 * that runs during the exchange could write to tables of both generations. New inserts cannot begin, because the tables are closed.
 */
async function untilInsertsEnd({ select }: Statements, exchange: Exchange): Promise<void> {
  const { live, cluster, insertsEndWithinMs = INSERTS_END_WITHIN_MS } = exchange;
  for (let waitedMs = 0; ; waitedMs += CHECK_EVERY_MS) {
    const running = await runningInserts(select, live, cluster);
    if (running.length === 0) return;
    if (waitedMs >= insertsEndWithinMs) {
      throw new DependencyError(
        'analytics_unavailable',
        `${running.length} inserts into ${live} are still running after ${waitedMs} ms: no table was exchanged`,
      );
    }
    await pause(CHECK_EVERY_MS);
  }
}
