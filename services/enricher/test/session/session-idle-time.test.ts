import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SESSION_IDLE_MS } from '@weir/domain/records/made-session';

const MIGRATIONS = 'schemas/clickhouse';
const CREATES_VIEW = /CREATE (OR REPLACE )?VIEW (IF NOT EXISTS )?session_moves\b/;
const fullPath = (path: string): string => join(__dirname, '../../../..', path);
const read = (path: string): string => readFileSync(fullPath(path), 'utf8');

test('the snippet, the tables and the reports end a session after the same idle time as the enricher', () => {
  const inSnippet = /SESSION_IDLE_MS = ([\de]+);/.exec(read('packages/snippet/src/visitor.ts'))?.[1];
  expect(Number(inSnippet)).toBe(SESSION_IDLE_MS);
  const migrations = readdirSync(fullPath(MIGRATIONS))
    .toSorted()
    .map((name) => read(`${MIGRATIONS}/${name}`));
  // Several migrations create the view `session_moves`. The last one has the present text of the view.
  const ofTables = migrations.findLast((sql) => CREATES_VIEW.test(sql)) ?? '';
  for (const sql of [ofTables, read('services/control/src/reports/visits/visit-rows.ts')]) {
    expect(sql).toContain(`OVER session), ${SESSION_IDLE_MS})`);
    expect(/\), (\d+)\) AS is_new/.exec(sql)?.[1]).toBe(String(SESSION_IDLE_MS / 60_000));
  }
});
