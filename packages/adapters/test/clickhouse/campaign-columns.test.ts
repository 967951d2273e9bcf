import { CAMPAIGN_TAG_COLUMNS, UTM_TAGS } from '@weir/domain/acquisition/campaign-tags';
import { STAMP_COLUMNS } from '@weir/domain/records/records-columns';
import { batch, T0, useClickhouse } from './clickhouse-harness.ts';

const opened = useClickhouse();

const ofTouches = ['', 'first_', 'last_'].flatMap((prefix) => UTM_TAGS.map((tag) => prefix + tag));
/** The tables and views with columns for the campaign tags, and the names of these columns. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  records: [...CAMPAIGN_TAG_COLUMNS, ...STAMP_COLUMNS],
  event_rows: [...CAMPAIGN_TAG_COLUMNS, ...STAMP_COLUMNS],
  events: CAMPAIGN_TAG_COLUMNS,
  people_events: CAMPAIGN_TAG_COLUMNS,
  session_rows: UTM_TAGS,
  session_parts: UTM_TAGS,
  sessions: UTM_TAGS,
  visit_slots: UTM_TAGS,
  payments: ofTouches,
};

test('each view has a column for each tag. If one is missing, the migration of the tag must create the view again', async () => {
  const rows = await opened.analytics.select<{ table: string; name: string }>(
    'SELECT table, name FROM system.columns WHERE database = currentDatabase()',
  );
  const missing = Object.entries(TABLES).flatMap(([table, names]) =>
    names
      .filter((name) => !rows.some((row) => row.table === table && row.name === name))
      .map((name) => `${table}.${name}`),
  );
  expect(missing).toEqual([]);
});

test('each column of a view has the value of its tag', async () => {
  const own = Object.fromEntries(CAMPAIGN_TAG_COLUMNS.map((name) => [name, `own ${name}`]));
  const visit = Object.fromEntries(UTM_TAGS.map((tag) => [`visit_${tag}`, `visit ${tag}`]));
  const payment = { source: 'server', type: 'event', event_name: 'paid', value: 5, value_text: '5' };
  const named = { visitor_id: 'v', session_id: 's' };
  await opened.analytics.insertRecords(
    batch(0, [
      { ...named, ...own, ...visit, timestamp: T0 },
      { ...named, ...payment, properties: { currency: 'EUR' }, timestamp: T0 + 1000 },
    ]),
  );
  const read = async (table: string, columns: readonly string[], condition = '1') =>
    opened.analytics.select(`SELECT ${columns.join(', ')} FROM ${table} WHERE ${condition}`);
  const ofSession = Object.fromEntries(UTM_TAGS.map((tag) => [tag, `own ${tag}`]));
  for (const table of ['events', 'event_rows', 'people_events']) {
    expect(await read(table, CAMPAIGN_TAG_COLUMNS, "type = 'pageview'")).toEqual([own]);
  }
  expect(await read('event_rows', Object.keys(visit), "type = 'pageview'")).toEqual([visit]);
  expect(await read('session_rows', UTM_TAGS, 'visited')).toEqual([ofSession]);
  expect(await read('sessions', UTM_TAGS)).toEqual([ofSession]);
  expect(await read('payments', ofTouches)).toEqual([
    Object.fromEntries(ofTouches.map((name) => [name, `own ${name.replace(/^(?:first|last)_/, '')}`])),
  ]);
});
