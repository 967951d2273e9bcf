import { KEPT_COLUMNS, KEPT_HEAD, keptColumns } from '@weir/control/retention/kept-sessions';
import { batch, useClickhouse } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

const opened = useClickhouse();

test('a session has the same attributes after its rows were removed: KEPT_HEAD has the order of session_parts', async () => {
  const attributes = Object.fromEntries(KEPT_HEAD.map((name) => [name, `of ${name}`]));
  await opened.analytics.insertRecords(batch(0, [{ ...attributes, session_id: 's' }]));
  const session = () => opened.analytics.select(`SELECT ${KEPT_HEAD.join(', ')} FROM sessions`);
  expect(await session()).toEqual([attributes]);
  await opened.analytics.change(
    `INSERT INTO sessions_kept (${KEPT_COLUMNS})
     SELECT ${keptColumns("'part'")} FROM session_rows AS parts GROUP BY site_id, made_for, session_id`,
  );
  await opened.analytics.change('ALTER TABLE records DELETE WHERE 1');
  expect(await opened.analytics.select('SELECT count() AS n FROM records')).toEqual([{ n: 0 }]);
  expect(await session()).toEqual([attributes]);
});
