import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { EventLog } from '@weir/ports/event-log';
import { freePort } from '@weir/testkit/free-port';
import { describeLive } from '@weir/testkit/live-ports';
import { type EventLogFixture, eventLogContract } from '../../../ports/contract/event-log.contract.ts';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

describeLive('kafka', (brokers) => {
  async function openFixture(): Promise<EventLogFixture> {
    const prefix = `test-${randomUUID().slice(0, 8)}.`;
    const open = () => openKafkaFixtureLog(brokers(), prefix);
    let log: EventLog = await open();
    const others: EventLog[] = [];
    let topics = 0;
    let tables = 0;
    return {
      get log() {
        return log;
      },
      async another() {
        const other = await open();
        others.push(other);
        return other;
      },
      async reopen() {
        await log.close();
        log = await open();
        return log;
      },
      tooManyBytes: 6 * 1024 * 1024,
      newTopic: async () => `topic.${topics++}`,
      newTable: async () => `table.${tables++}`,
      async spawnWriter(topic) {
        const script = join(__dirname, 'kafka-append-forever.ts');
        return spawn(process.execPath, ['--import', 'tsx', script, brokers(), prefix, topic], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
      },
      async close() {
        await Promise.all([log, ...others].map((one) => one.close()));
      },
    };
  }

  eventLogContract('the Kafka event log', openFixture);

  test('the first configured broker may be unavailable', async () => {
    const gone = `127.0.0.1:${await freePort()}`;
    const log = await openKafkaFixtureLog(`${gone},${brokers()}`, `test-${randomUUID().slice(0, 8)}.`, 1);
    const [outcome] = await log.append('topic.0', [{ partition: 0, value: Buffer.from('x') }]);
    expect(outcome?.status).toBe('stored');
    await log.close();
  });
});
