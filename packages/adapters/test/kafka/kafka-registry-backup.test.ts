import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { Kafka, logLevel } from 'kafkajs';
import { openLogRegistry } from '../../src/registry/log-registry.ts';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

jest.setTimeout(600_000);

const PROGRAM = join(__dirname, '../../../../infra/kafka/registry-backup.mjs');
const SITE = { domain: 'shop.example', name: 'Shop', timezone: 'UTC', limits: {}, createdAt: 1 };

// This suite runs the commands of docs/operations.md, Backups, "The registry".
describeLive('kafka', (brokers) => {
  /** Runs infra/kafka/registry-backup.mjs with the topics of this prefix. */
  async function run(prefix: string, args: readonly string[], input = '') {
    const env = { PATH: process.env.PATH ?? '', KAFKA_BROKERS: brokers(), KAFKA_TOPIC_PREFIX: prefix };
    const child = spawn(process.execPath, [PROGRAM, ...args], { env });
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { stdout, stderr, code };
  }
  const newPrefix = (): string => `test-${randomUUID().slice(0, 8)}.`;

  async function deleteRegistry(prefix: string): Promise<void> {
    const admin = new Kafka({ brokers: brokers().split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [`${prefix}registry`] });
    await eventually(
      'the registry to be deleted',
      async () => !(await admin.listTopics()).includes(`${prefix}registry`),
    );
    await admin.disconnect();
  }

  async function open(prefix: string) {
    const log = await openKafkaFixtureLog(brokers(), prefix, 0);
    const registry = await openLogRegistry({
      eventLog: log,
      clock: Date.now,
      randomSalt: () => randomBytes(32).toString('hex'),
    });
    return {
      log,
      registry,
      async close() {
        await registry.close();
        await log.close();
      },
    };
  }

  test('a dump of the registry restores its sites: into the same log, and into a new log', async () => {
    const prefix = newPrefix();
    const weir = await open(prefix);
    for (const siteId of ['shop', 'removed', 'blog']) await weir.registry.putSite({ siteId, ...SITE });
    await weir.registry.putSite({ siteId: 'shop', ...SITE, name: 'Shop "2"' });
    await weir.registry.removeSite('removed');
    const sites = [...weir.registry.sites()];
    const { logId } = weir.log;
    await weir.registry.putReplayRequest({ replayId: 'replay_1', from: 'enriched', startedAt: 1 });
    await weir.close();

    const dump = await run(prefix, ['dump']);
    expect(dump).toMatchObject({ code: 0 });
    expect(dump.stdout).not.toContain('removed');
    expect(await run(prefix, ['restore'], dump.stdout)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has records'),
    });
    await deleteRegistry(prefix);
    for (const [place, args] of [
      [prefix, ['restore']],
      [newPrefix(), ['restore', '--new-log']],
    ] as const) {
      expect(await run(place, args, dump.stdout)).toMatchObject({ code: 0 });
      const restored = await open(place);
      expect([...restored.registry.sites()]).toEqual(sites);
      expect(restored.registry.replay()).toBeUndefined();
      expect(restored.log.logId === logId).toBe(place === prefix);
      await restored.close();
    }
  });
});
