import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { startWeir, TEST_ADMIN_TOKEN, type WeirProcess } from '@weir/testkit/weir-process';
import { FAULTS_ENV, faultRandom, say } from './exactly-once.ts';

const KILLS = Number(process.env.WEIR_REDRIVE_KILLS ?? 3);
const LETTERS = 60;
const STEP_WITHIN_MS = 180_000;
const ENTRY = join(__dirname, '../../packages/embedded-clickhouse/src/clickhouse-server.ts');

/** Starts only the ClickHouse of a Weir that is stopped, and runs a statement in it. */
async function command({ dataDir }: WeirProcess, statement: string): Promise<void> {
  const engine = await startEmbeddedClickhouse({ dataDir, entry: ENTRY, logger: createLogger('error') });
  await engine.ready();
  const headers = { 'x-clickhouse-user': engine.username, 'x-clickhouse-key': engine.password };
  const answer = await fetch(engine.url, { method: 'POST', headers, body: statement });
  await engine.close();
  if (!answer.ok) throw new Error(await answer.text());
}

test(`kill -9 at ${KILLS} moments while dead letters are redriven by two callers: each is stored exactly once`, async () => {
  const random = faultRandom('kill-redrive');
  const weir = await startWeir({ env: FAULTS_ENV });
  try {
    const { client } = weir;
    const { site, key } = await client.createSiteWithKey();
    await weir.terminate();
    await command(weir, "ALTER TABLE weir.records ADD CONSTRAINT no_bad CHECK NOT startsWith(event_name, 'bad')");
    await weir.restart();
    const events = Array.from({ length: 2 * LETTERS }, (_, nth) => ({
      name: nth % 2 === 0 ? 'bad' : 'good',
      user_id: `user-${nth % 16}`,
      idempotency_key: `key-${nth}`,
    }));
    await client.sendBatch(key, events);
    const open = 'SELECT count() FROM dead_letters WHERE redriven_at IS NULL';
    await eventually('the dead letters', async () => (await client.number(open)) === LETTERS, STEP_WITHIN_MS);
    await client.settled();
    await weir.terminate();
    await command(weir, 'ALTER TABLE weir.records DROP CONSTRAINT no_bad');
    await weir.restart();

    let killing = true;
    // If a caller gets no answer, it sends the same request again, as `weir dead-letters redrive` does. Each request redrives (appends again) at
    // most three dead letters.
    const callers = [1, 2].map(async () => {
      while (killing) {
        await fetch(`${weir.url}/api/admin/dead-letters/redrive`, {
          method: 'POST',
          headers: { authorization: `Bearer ${TEST_ADMIN_TOKEN}` },
          body: JSON.stringify({ limit: 3 }),
        }).then(
          (answer) => answer.text(),
          () => undefined,
        );
      }
    });
    const left: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(random() * 700); // the kill must happen at a random moment, so the pause is part of the test
      await weir.kill9();
      await weir.restart();
      left.push(await client.number(open));
    }
    await eventually('every letter to be redriven', async () => (await client.number(open)) === 0, STEP_WITHIN_MS);
    killing = false;
    await Promise.all(callers);
    await client.settled();
    say(`kill-redrive: dead letters left after each kill: ${left.join(', ')}`);

    const stored = await client.sql(
      'SELECT idempotency_key AS name, count() AS n FROM events WHERE site_id = {site:String} GROUP BY name HAVING n = 1',
      { site },
    );
    expect(stored).toHaveLength(2 * LETTERS);
    expect(await client.number('SELECT count() FROM events WHERE site_id = {site:String}', { site })).toBe(2 * LETTERS);
    const audit = (await client.must(200, 'GET', '/audit')) as { balanced: boolean; totals: Record<string, unknown> };
    expect(audit).toMatchObject({ balanced: true, totals: { redriven: LETTERS, redriven_twice: 0 } });
    expect(audit.totals.dead).toEqual({});
  } finally {
    await weir.stop();
  }
}, 600_000);
