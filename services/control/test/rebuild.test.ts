import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRebuild } from '@weir/control/rebuild/start-rebuild';
import { KEEP_FOREVER } from '@weir/domain/registry/keep';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import {
  addRebuildMigration,
  ORDER_OF,
  REBUILD_MIGRATION,
  REBUILT_ORDER,
} from '../../../packages/adapters/test/clickhouse/rebuild-migration.ts';
import { openReplayHarness, type ReplayHarness } from './replay-harness.ts';

jest.setTimeout(900_000);

const WITHIN_MS = 300_000;
const logger = createLogger('error');
const migrationsDir = mkdtempSync(join(tmpdir(), 'weir-migrations-'));
let weir: ReplayHarness;
beforeAll(async () => {
  cpSync(join(__dirname, '../../../schemas/clickhouse'), migrationsDir, { recursive: true });
  weir = await openReplayHarness(40, { migrationsDir });
  await addRebuildMigration(migrationsDir, (query) => weir.analytics.select(query));
});
afterAll(async () => {
  await weir.close();
  rmSync(migrationsDir, { recursive: true });
});

const orderOf = async (database: string): Promise<string | undefined> =>
  (await weir.analytics.select<{ text: string }>(ORDER_OF(database)))[0]?.text;
const rebuild = () => startRebuild({ ...weir, randomBytes, keep: KEEP_FOREVER, logger });

test('a database without rows gets the migration at once', async () => {
  const empty = weir.openTables('weir_empty');
  await empty.migrate();
  expect(await orderOf('weir_empty')).toBe(REBUILT_ORDER);
  await empty.close();
});

test('tables with rows are rebuilt by a replay that swaps and drops itself, while records come in', async () => {
  const former = await orderOf('weir');
  await weir.analytics.migrate();
  expect([await orderOf('weir'), await weir.shadow.missingRebuilds()]).toEqual([former, [REBUILD_MIGRATION]]);
  await weir.visits(5);
  const before = await weir.digests('weir');
  const running = rebuild();
  const visiting = (async () => {
    for (let nth = 0; nth < 20; nth++) await weir.visit('shop');
  })();
  await eventually('the order of the rows to change', async () => (await orderOf('weir')) === REBUILT_ORDER, WITHIN_MS);
  await weir.gone();
  await visiting;
  await weir.settled();
  await running.close();
  expect(await weir.shadow.missingRebuilds()).toEqual([]);
  expect(await weir.count('SELECT n FROM records_in_order')).toBe(45 * 5 + 100);
  const { data } = (await weir.call('GET', '/audit')).body;
  expect(data).toMatchObject({ balanced: true, totals: { received: 325, in_flight: 0 } });
  expect(Object.keys(await weir.digests('weir'))).toEqual([...Object.keys(before), 'records_in_order'].sort());

  // A replay from the log fills the shadow tables (docs/glossary.md) with the same rows, so the rebuild has lost no row and doubled none.
  await weir.call('POST', '/replays', { from: 'enriched' });
  await weir.follows();
  expect(await weir.digests('weir_shadow')).toEqual(await weir.digests('weir'));
  await weir.drop();
});

/** Removes the migration from the list of applied migrations, as if the tables were not rebuilt yet. */
const forgetMigration = () =>
  weir.command(
    `ALTER TABLE weir.schema_migrations DELETE WHERE name = '${REBUILD_MIGRATION}' SETTINGS mutations_sync = 1`,
  );

test('a rebuild during which persons were erased begins again, until an operator drops it', async () => {
  await forgetMigration();
  const before = Date.now();
  const begun = await weir.call('POST', '/sites/shop/erasures', { visitors: ['visitor-1'] });
  const erasure = `/erasures/${begun.body.data.erasure_id}`;
  await eventually('an erasure', async () => (await weir.call('GET', erasure)).body.data.phase === 'done', WITHIN_MS);
  const digests = await weir.digests('weir');
  const outdated = { replayId: 'replay_outdated', from: 'tables', startedAt: before, keep: KEEP_FOREVER } as const;
  await weir.registry.putReplayRequest({ ...outdated, isAutomatic: true });
  const running = rebuild();
  await eventually('another rebuild to end', async () => (await weir.shadow.missingRebuilds()).length === 0, WITHIN_MS);
  await weir.gone();
  await running.close();
  expect(await weir.digests('weir')).toEqual(digests);

  await forgetMigration();
  const stopped = rebuild();
  await eventually('a replay', async () => (await weir.current()).status === 200, WITHIN_MS);
  await weir.drop();
  // `done` resolves only if no other rebuild begins.
  await stopped.done;
  expect((await weir.current()).status).toBe(404);
});

test('a rebuild is not begun twice; from tables is for all records; a swap that rebuilds is not undone', async () => {
  const begun = new Set<string>();
  const stopListening = weir.registry.onReplayChange(() => {
    const replay = weir.registry.replay();
    if (replay !== undefined) begun.add(replay.request.replayId);
  });
  await rebuild().done;
  // The rebuild is done as soon as the tables are exchanged. Its replay then drops itself.
  await weir.gone();
  stopListening();
  expect(begun.size).toBe(1);
  const scoped = await weir.call('POST', '/replays', { from: 'tables', site_id: 'shop' });
  expect(scoped).toMatchObject({ status: 400 });

  await forgetMigration();
  const digests = await weir.digests('weir');
  expect(await weir.call('POST', '/replays', { from: 'tables' })).toMatchObject({ status: 201 });
  await weir.follows();
  await weir.call('POST', '/replays/current/swap');
  await eventually('a swap', async () => (await weir.current()).body.data.phase === 'swapped', WITHIN_MS);
  expect(await weir.digests('weir')).toEqual(digests);
  expect(await weir.call('POST', '/replays/current/undo')).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining(REBUILD_MIGRATION) } },
  });
  await weir.drop();
});
