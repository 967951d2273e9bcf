import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { eventually } from '@weir/testkit/eventually';
import { DIFF_COLUMNS, NOT_COUNTED } from '../src/replay/diff/diff-columns.ts';
import { openReplayHarness, type ReplayHarness } from './replay-harness.ts';

interface DiffView {
  readonly days: readonly Record<'old' | 'new', { readonly rows: number }>[];
  readonly changes: readonly {
    readonly column: string;
    readonly value: string;
    readonly old: number;
    readonly new: number;
  }[];
  readonly versions: readonly object[];
}

let weir: ReplayHarness;
/** Whether the writer of a replay inserts after a short time. Otherwise it can wait until it has all rows of a partition. */
let insertsSoon = false;
beforeAll(async () => {
  weir = await openReplayHarness(60, {
    leading: (deps) => ({
      ...deps,
      startReplayWriter: (writer) =>
        deps.startReplayWriter(insertsSoon ? { ...writer, expectsMore: () => false } : writer),
    }),
  });
});
afterAll(() => weir.close());
afterEach(() => weir.drop());

const current = () => weir.current();
const follows = () => weir.follows();
const digests = (database: string) => weir.digests(database);
const count = (query: string) => weir.count(query);
const databases = () => count("SELECT count() AS n FROM system.databases WHERE name = 'weir_shadow'");

test('a replay from enriched fills shadow tables with what the tables have, and follows them', async () => {
  const started = await weir.call('POST', '/replays', { from: 'enriched' });
  expect(started.body.data).toMatchObject({ from: 'enriched', phase: 'create', site_id: null, since: null });
  expect([started.status, (await weir.call('POST', '/replays', { from: 'enriched' })).status]).toEqual([201, 409]);
  await follows();
  expect(await digests('weir_shadow')).toEqual(await digests('weir'));
  await weir.visits(20);
  await follows();
  expect(await digests('weir_shadow')).toEqual(await digests('weir'));
  expect((await current()).body.data).toMatchObject({
    records_to_copy: 0,
    records_replayed: 400,
    seconds_left: 0,
    problem: null,
  });

  expect((await weir.call('DELETE', '/replays/current')).body.data.wish).toBe('drop');
  await weir.gone();
  expect([await databases(), (await weir.call('DELETE', '/replays/current')).status]).toEqual([0, 404]);
});

test('a diff is empty when nothing changed, and else names exactly what did', async () => {
  expect((await weir.call('GET', '/replays/current/diff')).status).toBe(404);
  await weir.call('POST', '/replays', { from: 'enriched' });
  await follows();
  const same: DiffView = await weir.diff();
  expect([same.changes, same.versions]).toEqual([[], []]);
  expect(same.days.map((day) => day.old)).toEqual(same.days.map((day) => day.new));
  const rowsOf = ({ days }: DiffView, side: 'old' | 'new') => days.reduce((sum, day) => sum + day[side].rows, 0);
  expect(rowsOf(same, 'old')).toBe(await count('SELECT count() AS n FROM events'));

  const change = "browser = if(raw_offset % 10 = 0, 'Lynx', browser), city = if(raw_offset % 5 = 0, 'Rome', city)";
  await weir.command(
    `ALTER TABLE weir_shadow.records UPDATE ${change}, enrichment = replaceRegexpOne(enrichment, 'geo-.*', 'geo-next') WHERE outcome = 'row' SETTINGS mutations_sync = 1`,
  );
  const changed: DiffView = await weir.diff('?limit=2');
  const lynx = await count("SELECT count() AS n FROM weir_shadow.records WHERE browser = 'Lynx'");
  expect(changed.changes).toContainEqual({
    step: 'put-user-agent',
    column: 'browser',
    value: 'Lynx',
    old: 0,
    new: lynx,
  });
  const sizes = changed.changes.map((one) => Math.abs(one.new - one.old));
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
  expect(changed.changes.filter(({ column }) => column === 'city').map(({ value }) => value)).toContain('Rome');
  expect(changed.changes.map(({ column }) => column)).not.toContain('country');
  const [gone, made, ...others] = changed.versions;
  expect([made, others]).toEqual([
    expect.objectContaining({ part: 'geo', version: 'next', steps: ['put-geo'], old: 0 }),
    [],
  ]);
  expect(gone).toMatchObject({ part: 'geo', new: 0 });
  expect(changed.days.map((day) => day.new)).toEqual(same.days.map((day) => day.old));

  await weir.command(
    "ALTER TABLE weir_shadow.records DELETE WHERE outcome = 'row' AND raw_offset = 1 SETTINGS mutations_sync = 1",
  );
  const less: DiffView = await weir.diff();
  expect(rowsOf(less, 'new')).toBeLessThan(rowsOf(less, 'old'));
});

test('every column of records is counted in a diff, or named as one that is not', () => {
  const counted = Object.values(DIFF_COLUMNS).flat();
  expect([...counted, ...NOT_COUNTED].toSorted()).toEqual(RECORDS_COLUMNS.toSorted());
  const steps = readdirSync(join(__dirname, '../../enricher/src/steps'));
  for (const step of Object.keys(DIFF_COLUMNS)) {
    if (step.includes('-')) expect(steps).toContain(`${step}.ts`);
  }
});

test('a limited replay goes on where it was after its leader ended', async () => {
  const asked = { from: 'enriched', since: new Date(Date.now() - 3600_000).toISOString(), records_per_second_max: 50 };
  insertsSoon = true;
  await weir.call('POST', '/replays', asked);
  // The replay has 400 records. Only 100 of them are needed here, so that the phase is still `fill` on a busy machine.
  for (const part of [10, 50, 100]) {
    const { phase } = await eventually(`${part} records`, async () => {
      const { data } = (await current()).body;
      return data.records_replayed >= part ? data : undefined;
    });
    expect(phase).toBe('fill');
    await weir.restartReplayer();
  }
  await follows();
  insertsSoon = false;
  expect(await digests('weir_shadow')).toEqual(await digests('weir'));
});

test('of concurrent starts exactly one gets 201, the others 409', async () => {
  const starts = Array.from({ length: 6 }, () => weir.call('POST', '/replays', { from: 'enriched' }));
  const replies = await Promise.all(starts);
  expect(replies.map(({ status }) => status).toSorted()).toEqual([201, ...Array(5).fill(409)]);
  const id = replies.find(({ status }) => status === 201)?.body.data.replay_id;
  expect((await current()).body.data.replay_id).toBe(id);
});

describe('a replay of a part', () => {
  /**
   * Changes the city of all rows in the live tables. A row of the shadow tables (docs/glossary.md) with this city was copied; any other row
   * comes from the log.
   */
  beforeAll(async () => {
    await weir.settled();
    await weir.command("ALTER TABLE weir.records UPDATE city = 'copied' WHERE 1 SETTINGS mutations_sync = 1");
  });
  const cities = async (where: string) => {
    const copied = await count(`SELECT count() AS n FROM weir_shadow.records WHERE city = 'copied' AND ${where}`);
    return { copied, replayed: (await count(`SELECT count() AS n FROM weir_shadow.records WHERE ${where}`)) - copied };
  };

  test('replaces exactly the site, and copies the rest', async () => {
    const shop = await count("SELECT count() AS n FROM records WHERE site_id = 'shop'");
    const others = await count("SELECT count() AS n FROM records WHERE site_id != 'shop'");
    const asked = { from: 'enriched', site_id: 'shop' };
    const plan = (await weir.call('POST', '/replays', { ...asked, dry_run: true })).body.data;
    expect(plan).toEqual({
      dry_run: true,
      records_from_archive: 0,
      records_to_copy: others,
      records_to_replay: shop,
      note: null,
    });
    expect((await current()).status).toBe(404);

    await weir.call('POST', '/replays', asked);
    await follows();
    expect(await cities("site_id = 'shop'")).toEqual({ copied: 0, replayed: shop });
    expect(await cities("site_id != 'shop'")).toEqual({ copied: others, replayed: 0 });
    const offsets = 'SELECT count() = uniqExact(raw_partition, raw_offset) AS n FROM weir_shadow.records';
    expect(await count(offsets)).toBe(1);

    // Records that are stored after the start of the replay come from the log, whatever their site is.
    await weir.visit('blog');
    await weir.settled();
    await follows();
    expect(await cities("site_id != 'shop'")).toMatchObject({ copied: others });
    expect(await count('SELECT count() AS n FROM weir_shadow.records')).toBe(shop + others + 5);
    await weir.command("ALTER TABLE weir.records UPDATE city = 'copied' WHERE 1 SETTINGS mutations_sync = 1");
  });

  test('replaces exactly the time range', async () => {
    const [at] = await weir.analytics.select<{ since: number; until: number }>(
      'SELECT toUnixTimestamp64Milli(quantileExact(0.2)(received_at)) AS since, toUnixTimestamp64Milli(quantileExact(0.7)(received_at)) AS until FROM records',
    );
    const range = {
      since: new Date(Number(at?.since)).toISOString(),
      until: new Date(Number(at?.until)).toISOString(),
    };
    const inRange = `received_at >= '${range.since.slice(0, -1)}' AND received_at < '${range.until.slice(0, -1)}'`;
    const wanted = await count(`SELECT count() AS n FROM records WHERE ${inRange}`);
    expect(wanted).toBeGreaterThan(50);
    await weir.call('POST', '/replays', { from: 'enriched', ...range });
    await follows();
    expect(await cities(inRange)).toEqual({ copied: 0, replayed: wanted });
    expect(await cities(`NOT (${inRange})`)).toMatchObject({ replayed: 0 });
  });
});

test.each([
  [{ from: 'nowhere' }, 400],
  [{}, 400],
  [{ from: 'enriched', since: 'yesterday' }, 400],
  [{ from: 'enriched', since: '2026-02-01', until: '2026-01-01' }, 400],
  [{ from: 'enriched', records_per_second_max: 0 }, 400],
  [{ from: 'enriched', site_id: 'nowhere' }, 404],
])('POST %j is %i', async (body, status) => {
  expect((await weir.call('POST', '/replays', body)).status).toBe(status);
});
