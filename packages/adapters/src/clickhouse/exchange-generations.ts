import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import { type Fence, fenceColumn, readFence, type Select } from './generation-fence.ts';

export interface Exchange {
  /** The databases. `shadow` has all migrations, and the rows that the tables shall have. */
  readonly live: string;
  readonly shadow: string;
  /** The number of the generation that `live` shall have: one more than it had before the first attempt. */
  readonly generation: number;
  /** schemas/clickhouse/stored-tables.json */
  readonly tables: readonly string[];
  readonly dictionaries: readonly string[];
  readonly cluster: string | undefined;
  /** How long inserts that began before the tables were closed may take to end; default 10 s. */
  readonly insertsEndWithinMs?: number;
}

export interface Statements {
  run(statement: string): Promise<void>;
  readonly select: Select;
}

const INSERTS_END_WITHIN_MS = 10_000;
const CHECK_EVERY_MS = 20;

/**
 * Exchanges the tables of two databases, so that `live` has the next generation and `shadow` the former one. Both keep their views,
 * which go by the names of the tables.
 *
 *     step                                                    records in live, in shadow     inserts into live
 *     ------------------------------------------------------  -----------------------------  ---------------------------
 *     marks the shadow's tables with the generation n         n-1            any             taken
 *     closes the shadow's tables                              n-1            n closed        taken
 *     closes the live tables                                  n-1 closed     n closed        refused
 *     waits until no insert into live is running              n-1 closed     n closed        refused
 *     exchanges each table that is not exchanged yet          n closed       n-1 closed      refused
 *     reloads the dictionaries                                n closed       n-1 closed      refused
 *     opens the live tables                                   n              n-1 closed      taken
 *     opens the shadow's tables                               n              n-1             taken
 *
 * Resolves when `live` has the generation and is open; called again after that, it changes nothing. After any failure, also after a
 * kill at any statement, a further call with the same arguments continues: each table's comment says whether it is exchanged. Before
 * the first table is exchanged, a failure to wait for inserts opens the live tables again and rejects with `analytics_unavailable`.
 * Rejects with `analytics_refused` if `live` is of another generation than the one before.
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
      `the tables of ${live} are of generation ${found.generation}: they cannot become ${generation}`,
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
    await statements.run(`EXCHANGE TABLES ${pairs}${onCluster(exchange)}`);
  }
  left = await notExchanged(select, exchange);
  if (left.length > 0) {
    throw new DependencyError('analytics_unavailable', `ClickHouse did not exchange the tables ${left.join(', ')}`);
  }
  for (const dictionary of exchange.dictionaries) {
    await statements.run(`SYSTEM RELOAD DICTIONARY${onCluster(exchange)} ${live}.${dictionary}`);
  }
  await fences.set(live, { generation, closed: false });
  await openFormer(statements, exchange);
}

/** The tables that `live` had before: a later exchange, which undoes this one, needs them open. */
async function openFormer(statements: Statements, { shadow, generation, cluster }: Exchange): Promise<void> {
  const former = await readFence(statements.select, shadow);
  if (former.generation !== generation - 1 || !former.closed) return;
  await createFences(statements, cluster).set(shadow, { generation: generation - 1, closed: false });
}

/** Marks each table that is not exchanged yet, and returns these tables. All are marked before the first is exchanged. */
async function markShadow(statements: Statements, exchange: Exchange): Promise<readonly string[]> {
  const { shadow } = exchange;
  const left = await notExchanged(statements.select, exchange);
  const marked = await markedTables(statements.select, exchange, shadow);
  for (const table of left) {
    if (marked.has(table)) continue;
    const mark = markOf(exchange);
    await statements.run(`ALTER TABLE ${shadow}.${table}${onCluster(exchange)} MODIFY COMMENT '${mark}'`);
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

const onCluster = ({ cluster }: Pick<Exchange, 'cluster'>): string =>
  cluster === undefined ? '' : ` ON CLUSTER '${cluster}'`;

interface Fences {
  set(database: string, fence: Fence): Promise<void>;
}

function createFences({ run, select }: Statements, cluster: string | undefined): Fences {
  return {
    async set(database, { generation, closed }) {
      const found = await readFence(select, database);
      if (found.generation === generation && found.closed === closed) return;
      // One statement, so that there is always one such column. Renaming it would rewrite every part.
      await run(
        `ALTER TABLE ${database}.records${onCluster({ cluster })} ADD COLUMN ${fenceColumn(generation, closed)} UInt8 EPHEMERAL, ` +
          `DROP COLUMN ${fenceColumn(found.generation, found.closed)}`,
      );
    },
  };
}

/**
 * An insert finds its views' tables while it runs: one that began before `records` was exchanged could fill exchanged tables. No new
 * one begins, because the tables are closed.
 */
async function untilInsertsEnd({ select }: Statements, exchange: Exchange): Promise<void> {
  const { live, cluster, insertsEndWithinMs = INSERTS_END_WITHIN_MS } = exchange;
  const processes = cluster === undefined ? 'system.processes' : `clusterAllReplicas('${cluster}', system.processes)`;
  const query = `SELECT count() AS inserts FROM ${processes} WHERE query_kind = 'Insert' AND current_database = {live:String}`;
  for (let waitedMs = 0; ; waitedMs += CHECK_EVERY_MS) {
    const [row] = await select<{ inserts: string | number }>(query, { live });
    if (Number(row?.inserts) === 0) return;
    if (waitedMs >= insertsEndWithinMs) {
      throw new DependencyError(
        'analytics_unavailable',
        `${row?.inserts} inserts into ${live} are still running after ${waitedMs} ms: no table was exchanged`,
      );
    }
    await pause(CHECK_EVERY_MS);
  }
}
