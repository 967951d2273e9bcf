import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eraseTables } from '@weir/control/erasure/erase-tables';
import { personSql } from '@weir/control/erasure/person-sql';
import { expireTables } from '@weir/control/retention/expire-tables';
import { namedEntries } from '@weir/domain/erasure/tombstone';
import { KEEP_KINDS } from '@weir/domain/registry/keep';
import type { Analytics } from '@weir/ports/analytics';

const LIST: readonly { readonly name: string; readonly person: readonly string[]; readonly keep: string }[] =
  JSON.parse(readFileSync(join(__dirname, '../../../schemas/clickhouse/stored-tables.json'), 'utf8')).tables;
const listed = (isWanted: (table: (typeof LIST)[number]) => boolean) =>
  LIST.filter(isWanted)
    .map(({ name }) => name)
    .sort();

/** Answers the queries of erasures and expiries as ClickHouse does, with the rows that `answer` returns. */
const analyticsWith = (answer: (sql: string) => readonly object[]): Analytics =>
  ({ select: async (sql: string) => answer(sql), runningInsertsEnd: async () => undefined }) as unknown as Analytics;

test('an erasure deletes rows from each table whose rows have data of persons', async () => {
  const erased: string[] = [];
  const entries = namedEntries('salt', 'shop', ['v'], []);
  await eraseTables({
    analytics: analyticsWith(() => []),
    database: 'weir',
    person: personSql([{ siteId: 'shop', erasureId: 'e', part: 0, at: 0, salt: 'salt', whole: false, entries }]),
    erasureId: 'e',
    change: async () => undefined,
    count: async (table) => void erased.push(table),
    begin: async () => 0,
    clock: () => 0,
  });
  expect(erased.sort()).toEqual(listed(({ person }) => person.length > 0));
});

test.each(KEEP_KINDS)('an expiry of %s deletes rows from each table that follows this limit', async (kind) => {
  const statements: string[] = [];
  const profiles = [[{ id: 'profile' }]];
  const [siteIds, before] = [['shop'], { [kind]: 1_000 }];
  await expireTables({
    analytics: analyticsWith((sql) => {
      if (sql.includes('weir.profiles_latest')) return profiles.shift() ?? [];
      return sql.includes('GROUP BY log, part, month, nth') ? [{ log: 'log', part: 0, month: 202605, nth: 0 }] : [];
    }),
    database: 'weir',
    logId: 'log',
    clock: () => 0,
    startedAt: 0,
    expiry: { siteIds, before, expiryId: 'expiry', startedAt: 0, phase: 'deleting', ends: [1] },
    change: async (statement) => void statements.push(statement),
    lastBegun: () => undefined,
    begin: async () => undefined,
  });
  const deleted = statements.flatMap((sql) => /ALTER TABLE weir\.(\w+) DELETE/.exec(sql)?.[1] ?? []);
  // Profiles are also in the identify records.
  const records = kind === 'profiles' ? ['records'] : [];
  expect([...new Set(deleted)].sort()).toEqual([...listed(({ keep }) => keep === kind), ...records].sort());
});
