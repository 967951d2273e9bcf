import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SESSION_IDLE_MS } from '@weir/domain/records/made-session';

const read = (path: string): string => readFileSync(join(__dirname, '../../../..', path), 'utf8');

test('the snippet, the tables and the reports end a session after the same idle time as the enricher', () => {
  const inSnippet = /SESSION_IDLE_MS = ([\de]+);/.exec(read('packages/snippet/src/visitor.ts'))?.[1];
  expect(Number(inSnippet)).toBe(SESSION_IDLE_MS);
  for (const file of [
    'schemas/clickhouse/016_sessions_of_rows.sql',
    'services/control/src/reports/visits/visit-rows.ts',
  ]) {
    const sql = read(file);
    expect(sql).toContain(`OVER session), ${SESSION_IDLE_MS})`);
    expect(/\), (\d+)\) AS is_new/.exec(sql)?.[1]).toBe(String(SESSION_IDLE_MS / 60_000));
  }
});
