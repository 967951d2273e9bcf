import { setTimeout as pause } from 'node:timers/promises';
import { filesWith, sendClientAddresses } from '@weir/testkit/client-addresses';
import { eventually } from '@weir/testkit/eventually';
import { ACCEPTANCE_ENV } from '../acceptance/use-weir.ts';
import { describeDistributed } from './deployment.ts';
import { redisCommand } from './redis-command.ts';

const MARK = 'mark-that-is-on-the-disk';
/** `sendClientAddresses` sends hits without a visitor ID from this number of clients. Each client is one cookieless visitor. */
const CLIENTS = 3;
const COLLECT_KEYS = 'weir:limit:collect:*';

/** This limit is longer than the tests of this file need. */
const TESTS_MS = 600_000;
const DAY_MS = 86_400_000;

describeDistributed('client addresses in the files of the services', ACCEPTANCE_ENV, (weir) => {
  // At midnight (UTC), the salt changes, and with it the visitor IDs and the hashes of addresses. Shortly before, the tests wait for the new day.
  beforeAll(async () => {
    const leftMs = DAY_MS - (Date.now() % DAY_MS);
    if (leftMs < TESTS_MS) await pause(leftMs);
  }, 2 * TESTS_MS);

  /** Makes Redis write all its data to `dump.rdb`, uncompressed, so that a search finds texts in it. */
  async function saveRedis(): Promise<void> {
    const { address } = weir().services.redis;
    expect(await redisCommand(address, 'CONFIG SET rdbcompression no')).toBe('+OK\r\n');
    expect(await redisCommand(address, 'SAVE')).toBe('+OK\r\n');
  }

  function expectNoAddress(): void {
    const { kafka, redis, clickhouse } = weir().services;
    for (const { folder } of [kafka, redis, clickhouse]) expect(filesWith(folder)).toEqual([]);
    const processes = [...weir().gateways, ...weir().enrichers, ...weir().writers, weir().control];
    for (const { dataDir } of processes) expect(filesWith(dataDir)).toEqual([]);
  }

  test('no file of Kafka, Redis and ClickHouse contains an address in plain text, before and after Kafka and Redis are killed', async () => {
    const { client, services } = weir();
    const [site, other] = [await client.createSite(), await client.createSite()];
    const rows = await sendClientAddresses(client, site, MARK);
    expectNoAddress();
    await client.rows('events', site, rows);

    // First checks that the searched files contain the records and the rate-limit counts. Otherwise the search for addresses would find nothing
    // even if they were stored.
    const segments = filesWith(services.kafka.folder, [MARK]).filter((found) =>
      /^data\/events\.raw-\d+\/.*\.log:/.test(found),
    );
    expect(segments.length).toBeGreaterThan(0);
    const [counts] = COLLECT_KEYS.split('*');
    const hit = { site_id: other, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
    // The counts of the hits above can have expired: a count lasts a minute. So each attempt sends one more hit.
    const stores = await eventually('Redis to save a count', async () => {
      await client.collect(hit, { 'x-forwarded-for': '203.0.113.77' });
      await saveRedis();
      const found = filesWith(services.redis.folder, [counts ?? '']);
      return found.some((one) => one.startsWith('dump.rdb')) && found;
    });
    expect(stores.filter((found) => found.startsWith('dump.rdb'))).toHaveLength(1);
    expect(stores.filter((found) => found.startsWith('appendonlydir/'))).not.toHaveLength(0);
    // ClickHouse compresses columns, so a search of its files can miss an address. tests/faults/address-privacy.test.ts therefore also searches
    // the tables with SQL.
    expect(filesWith(services.clickhouse.folder, [MARK])).not.toHaveLength(0);
    expectNoAddress();

    for (const service of [services.kafka, services.redis]) {
      await service.kill9();
      await service.up();
    }
    expectNoAddress();
    await sendClientAddresses(client, site, `${MARK}-again`);
    await client.rows('events', site, 2 * rows);
    await saveRedis();
    expectNoAddress();
    // All enrichers use the same salt of the day, so each client has only one visitor ID.
    const visitors = `SELECT uniqExact(visitor_id) FROM events WHERE site_id = {site:String} AND cookieless AND source != 'import'`;
    expect(await client.number(visitors, { site })).toBe(CLIENTS);
  }, 300_000);

  test('Redis counts the hits of an address under a hash that is the same in all gateways', async () => {
    const { client, services, gateways } = weir();
    const url = services.redis.address;
    const collectKeys = async (): Promise<readonly string[]> =>
      ((await redisCommand(url, `KEYS ${COLLECT_KEYS}`)).match(/weir:limit:collect:.*/g) ?? []).map((key) =>
        key.trim(),
      );
    expect(gateways.length).toBeGreaterThan(1);
    const before = await collectKeys();
    const hit = { site_id: await client.createSite(), visitor_id: 'v', session_id: 's', type: 'pageview' };
    const keys = await eventually('all gateways to count in Redis', async () => {
      for (const _ of gateways) await client.collect(hit, { 'x-forwarded-for': '203.0.113.90' });
      const found = (await collectKeys()).filter((key) => !before.includes(key));
      const counts = await Promise.all(found.map((key) => redisCommand(url, `GET ${key}`)));
      return counts.some((count) => Number(count.split('\r\n')[1]) >= 2 * gateways.length) ? found : undefined;
    });
    expect(keys).toEqual([expect.stringMatching(/^weir:limit:collect:[\w-]{22}$/)]);
  });
});
