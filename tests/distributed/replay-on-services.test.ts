import { eventually } from '@weir/testkit/eventually';
import { startLoad } from '@weir/testkit/load';
import { tableDigests } from '../../packages/adapters/test/clickhouse/table-digests.ts';
import { expectExactlyOnce, FAULTS_ENV, say } from '../faults/exactly-once.ts';
import { describeDistributed } from './deployment.ts';

const EVENTS = 500;
const STEP_WITHIN_MS = 180_000;

jest.setTimeout(4 * STEP_WITHIN_MS);

describeDistributed('a replay on Kafka, Redis and ClickHouse', FAULTS_ENV, (weir) => {
  const ask = async (method: string, path: string, status: number, body?: object): Promise<void> => {
    await eventually(`${method} ${path}`, async () => {
      const answer = await weir().client.admin(method, path, body);
      if (answer.status !== status) throw new Error(`${answer.status} ${answer.text}`);
      return true;
    });
  };
  const reaches = (phase: string): Promise<boolean> =>
    eventually(
      `the phase ${phase}`,
      async () => {
        const answer = await weir().client.admin('GET', '/replays/current');
        const { data } = answer.json as { readonly data: { readonly phase: string; readonly problem: string | null } };
        if (data.phase !== phase) throw new Error(answer.text);
        return true;
      },
      STEP_WITHIN_MS,
    );

  test('fill, swap and undo under load, with kills of control and of a writer: nothing lost, nothing twice', async () => {
    const { client, control, writers, urls } = weir();
    const site = await client.createSite();
    const { key } = await client.createKey(site);
    const load = startLoad({ url: urls, site, key, clients: 2, timeoutMs: 10_000 });
    await eventually('enough events', () => load.acknowledgedKeys.size >= EVENTS, STEP_WITHIN_MS);

    await ask('POST', '/replays', 201, { from: 'enriched' });
    await control.kill9();
    await control.restart();
    await reaches('follow');
    await ask('POST', '/replays/current/swap', 200);
    await Promise.all([control.kill9(), writers[0]?.kill9()]);
    await Promise.all([control.restart(), writers[0]?.restart()]);
    await reaches('swapped');
    await ask('POST', '/replays/current/undo', 200);
    await reaches('undone');

    await load.stop();
    await expectExactlyOnce(weir(), site, load);
    await ask('DELETE', '/replays/current', 200);
    await ask('GET', '/replays/current', 404);
    await ask('POST', '/replays', 201, { from: 'enriched' });
    await reaches('follow');
    const digests = (database: string) => tableDigests((query) => client.sql(query), database);
    expect(await digests('weir_shadow')).toEqual(await digests('weir'));
    await ask('DELETE', '/replays/current', 200);
    await ask('GET', '/replays/current', 404);
    say(`replay on Kafka: ${load.acknowledgedKeys.size} events`);
  });

  test('from raw: fill and swap under load, with kills of control and of an enricher: nothing lost, nothing twice', async () => {
    const { client, control, enrichers, urls } = weir();
    const site = await client.createSite();
    const { key } = await client.createKey(site);
    const before = startLoad({ url: urls, site, key, clients: 2, timeoutMs: 10_000 });
    await eventually('enough events', () => before.acknowledgedKeys.size >= EVENTS, STEP_WITHIN_MS);

    await ask('POST', '/replays', 201, { from: 'raw' });
    await control.kill9();
    await control.restart();
    // On a slow machine the live writer would otherwise be late all the time, and the replay would wait for it.
    await before.stop();
    await reaches('follow');
    const other = await client.createSite();
    const { key: otherKey } = await client.createKey(other);
    const load = startLoad({ url: urls, site: other, key: otherKey, clients: 1, timeoutMs: 10_000 });
    await ask('POST', '/replays/current/swap', 200);
    await Promise.all([control.kill9(), enrichers[0]?.kill9()]);
    await Promise.all([control.restart(), enrichers[0]?.restart()]);
    await reaches('swapped');

    await load.stop();
    await expectExactlyOnce(weir(), site, before);
    await expectExactlyOnce(weir(), other, load);
    const digests = (database: string) => tableDigests((query) => client.sql(query), database);
    for (const from of ['enriched', 'raw']) {
      await ask('DELETE', '/replays/current', 200);
      await ask('GET', '/replays/current', 404);
      await ask('POST', '/replays', 201, { from });
      await reaches('follow');
      expect(await digests('weir_shadow')).toEqual(await digests('weir'));
    }
    await ask('DELETE', '/replays/current', 200);
    await ask('GET', '/replays/current', 404);
  });
});
