import { eventually } from '@weir/testkit/eventually';
import { sendHttp } from '@weir/testkit/http-client';
import kafkajs from 'kafkajs';
import { describeDistributed } from './deployment.ts';
import { redisCommand as redis } from './redis-command.ts';

/** Changes one setting of a topic and keeps the others. Resolves with the previous value. */
async function setTopic(brokers: string, topic: string, setting: string, value: string): Promise<string> {
  const type = kafkajs.ConfigResourceTypes.TOPIC;
  const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type, name: topic }] });
  const own = resources[0]?.configEntries.filter(({ isDefault }) => !isDefault) ?? [];
  const configEntries = own.map(({ configName, configValue }) => ({
    name: configName,
    value: configName === setting ? value : configValue,
  }));
  await admin.alterConfigs({ validateOnly: false, resources: [{ type, name: topic, configEntries }] });
  await admin.disconnect();
  return own.find(({ configName }) => configName === setting)?.configValue ?? '';
}

async function clickhouse(address: string, statement: string): Promise<void> {
  const { username, password, origin } = new URL(address);
  const headers = { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': decodeURIComponent(password) };
  const answer = await fetch(origin, { method: 'POST', body: statement, headers });
  if (!answer.ok) throw new Error(await answer.text());
}

describeDistributed('guard rails', { WEIR_GUARD_INTERVAL_SECONDS: '1' }, (weir) => {
  const drift = async (url: string, engine: string): Promise<number> => {
    const { text } = await sendHttp(url, { path: '/metrics' });
    return Number(text.match(new RegExp(`^weir_engine_drift\\{engine="${engine}"\\} (\\d+)`, 'm'))?.[1]);
  };
  const everywhere = () => [weir().control, ...weir().gateways, ...weir().enrichers, ...weir().writers];

  test('a wrong setting of a topic raises an alarm in each process until it is corrected, and a setting that breaks exactly-once stops the start', async () => {
    const brokers = weir().services.kafka.address;
    // A single broker cannot have all settings of topics.json, so some settings are wrong from the start.
    const standing = await eventually('a first look', async () => {
      const found = await drift(weir().control.url, 'kafka');
      return Number.isNaN(found) ? undefined : found;
    });
    const setting = 'unclean.leader.election.enable';
    const before = await setTopic(brokers, 'events.raw', setting, 'true');
    for (const { url } of everywhere()) {
      await eventually('the alarm', async () => (await drift(url, 'kafka')) === standing + 1);
    }
    expect(weir().gateways[0]?.output()).toContain(`events.raw: ${setting} is true, not false`);
    await expect(weir().start('gateway')).rejects.toThrow(`${setting} is true, not false`);
    await setTopic(brokers, 'events.raw', setting, before);
    for (const { url } of everywhere()) {
      await eventually('the end of the alarm', async () => (await drift(url, 'kafka')) === standing);
    }
  });

  test('a Redis that may evict keys raises an alarm', async () => {
    const { address } = weir().services.redis;
    await eventually('a first look', async () => (await drift(weir().gateways[0]?.url ?? '', 'redis')) === 0);
    expect(await redis(address, 'CONFIG SET maxmemory-policy allkeys-lru')).toBe('+OK\r\n');
    for (const { url } of everywhere()) await eventually('the alarm', async () => (await drift(url, 'redis')) === 1);
    expect(weir().enrichers[0]?.output()).toContain('maxmemory-policy is allkeys-lru, not noeviction');
    await redis(address, 'CONFIG SET maxmemory-policy noeviction');
    for (const { url } of everywhere()) {
      await eventually('the end of the alarm', async () => (await drift(url, 'redis')) === 0);
    }
  });

  test('a ClickHouse table that forgets tokens too early raises an alarm in writers and control', async () => {
    const stores = [weir().control, ...weir().writers];
    for (const { url } of stores) {
      await eventually('a first look', async () => (await drift(url, 'clickhouse')) === 0);
    }
    const setWindow = (size: number) =>
      clickhouse(
        weir().services.clickhouse.address,
        `ALTER TABLE weir.records MODIFY SETTING non_replicated_deduplication_window = ${size}`,
      );
    await setWindow(100);
    for (const { url } of stores) await eventually('the alarm', async () => (await drift(url, 'clickhouse')) === 1);
    expect(weir().control.output()).toContain('records: non_replicated_deduplication_window is 100, not 10000 or more');
    await setWindow(10_000);
    for (const { url } of stores) {
      await eventually('the end of the alarm', async () => (await drift(url, 'clickhouse')) === 0);
    }
  });
});
