import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Erasure, Expiry } from '@weir/ports/registry';
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
  async function run(prefix: string, args: readonly string[], input = '', output: 'pipe' | number = 'pipe') {
    const env = { PATH: process.env.PATH ?? '', KAFKA_BROKERS: brokers(), KAFKA_TOPIC_PREFIX: prefix };
    const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['pipe', output, 'pipe'] });
    child.stdin?.end(input);
    const read = (stream: Readable | null) => (stream === null ? '' : text(stream));
    const [stdout, stderr, [code]] = await Promise.all([read(child.stdout), read(child.stderr), once(child, 'exit')]);
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

  async function openWeir(prefix: string) {
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
    const weir = await openWeir(prefix);
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
    // Linux answers each write to this device like a full disk.
    const cut = await run(prefix, ['dump'], '', openSync('/dev/full', 'w'));
    expect(cut).toMatchObject({ code: 2, stderr: expect.stringContaining('the dump is incomplete') });
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
      const restored = await openWeir(place);
      expect([...restored.registry.sites()]).toEqual(sites);
      expect(restored.registry.replay()).toBeUndefined();
      expect(restored.log.logId === logId).toBe(place === prefix);
      await restored.close();
    }
  });

  test('a dump without rows is an error, because it cannot be restored', async () => {
    const prefix = newPrefix();
    const admin = new Kafka({ brokers: brokers().split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: `${prefix}registry`, numPartitions: 1 }], waitForLeaders: true });
    await admin.disconnect();
    expect(await run(prefix, ['dump'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `registry-backup: ${prefix}registry has no rows: check KAFKA_BROKERS and KAFKA_TOPIC_PREFIX\n`,
    });
  });

  test('in a new log, an open erasure and an expiry have no offsets of the former log', async () => {
    const asked = {
      ...{ siteId: 'shop', at: 1, whole: false, visitors: 1, users: 0, removed: { records: 2 } },
      begun: {},
    };
    const open: readonly Erasure[] = [
      { ...asked, erasureId: 'waits', phase: 'waiting', ends: [7, 0] },
      { ...asked, erasureId: 'new', phase: 'waiting' },
      { ...asked, erasureId: 'archive', phase: 'archive', ends: [7, 0], archiveEnds: { 'events.raw': [9, 0] } },
    ];
    const done: Erasure = { ...asked, erasureId: 'done', phase: 'done', ends: [1], archiveEnds: { 'events.raw': [2] } };
    const chunk = { token: 't', month: 202601, logId: 'former', partition: 1, nth: 0, at: 5 };
    const expiry: Expiry = {
      ...{
        expiryId: 'e',
        siteIds: ['shop'],
        before: { events: 3 },
        startedAt: 4,
        phase: 'deleting',
        ends: [7, 0],
        chunk,
      },
    };
    const rows = [...open, done].map((value) => ({ key: `erasure/${value.erasureId}`, value: JSON.stringify(value) }));
    const dump = [...rows, { key: 'expiry/current', value: JSON.stringify(expiry) }].map((row) => JSON.stringify(row));
    for (const [args, isNewLog] of [
      [['restore'], false],
      [['restore', '--new-log'], true],
    ] as const) {
      const prefix = newPrefix();
      expect(await run(prefix, args, dump.join('\n'))).toMatchObject({ code: 0 });
      const { registry, close } = await openWeir(prefix);
      const erasure = (id: string) => registry.erasure(id);
      const [waits, fresh, archive] = open;
      expect(erasure('waits')).toEqual(isNewLog ? { ...waits, ends: [] } : waits);
      expect(erasure('new')).toEqual(fresh);
      expect(erasure('archive')).toEqual(isNewLog ? { ...archive, ends: [], archiveEnds: {} } : archive);
      expect(erasure('done')).toEqual(done);
      expect(registry.expiry()).toEqual(isNewLog ? { ...expiry, ends: [0, 0], chunk: { ...chunk, at: 0 } } : expiry);
      await close();
    }
  });
});
