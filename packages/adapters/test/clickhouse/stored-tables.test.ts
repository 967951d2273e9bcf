import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEEP_KINDS } from '@weir/domain/registry/keep';
import { useClickhouse } from './clickhouse-harness.ts';

interface StoredTables {
  readonly tables: readonly { readonly name: string; readonly person: readonly string[]; readonly keep: string }[];
  readonly dictionaries: readonly string[];
}

const LIST: StoredTables = JSON.parse(
  readFileSync(join(__dirname, '../../../../schemas/clickhouse/stored-tables.json'), 'utf8'),
);
/** The tables that stored-tables.json does not list. The first four have the engine Null, which stores no rows. */
const NOT_STORED = ['identified', 'identities', 'erasures', 'expirations', 'schema_migrations', 'audit_checkpoints'];

describe('schemas/clickhouse/stored-tables.json', () => {
  const opened = useClickhouse();

  const names = async (where: string): Promise<readonly string[]> => {
    const rows = await opened.analytics.select<{ name: string }>(
      `SELECT name FROM system.tables WHERE database = currentDatabase() AND ${where} ORDER BY name`,
    );
    return rows.map(({ name }) => name);
  };

  it('lists every table that stores rows', async () => {
    const found = await names("engine NOT LIKE '%View' AND engine != 'Dictionary'");
    expect(found.filter((name) => !NOT_STORED.includes(name))).toEqual(LIST.tables.map(({ name }) => name).sort());
  });

  it('lists every dictionary', async () => {
    expect(await names("engine = 'Dictionary'")).toEqual([...LIST.dictionaries].sort());
  });

  it('names the limit of retention that each table follows', () => {
    const limits = [...KEEP_KINDS, 'forever'];
    expect(LIST.tables.filter(({ keep }) => !limits.includes(keep))).toEqual([]);
  });

  it('names columns that the tables have', async () => {
    for (const { name, person } of LIST.tables) {
      const columns = await opened.analytics.select<{ name: string }>(
        'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {name:String}',
        { name },
      );
      expect([name, columns.map((column) => column.name)]).toEqual([
        name,
        expect.arrayContaining(['site_id', ...person]),
      ]);
    }
  });
});
