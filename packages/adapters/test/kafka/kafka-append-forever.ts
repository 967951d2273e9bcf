/** A program that appends to partition 0 of a topic until it is killed, for `EventLogFixture.spawnWriter` (ports/contract). */
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

const [brokers = '', topicPrefix = '', topic = ''] = process.argv.slice(2);
const log = await openKafkaFixtureLog(brokers, topicPrefix);
let next = 0;
async function appendOneByOne(): Promise<never> {
  for (;;) {
    const value = String(next++);
    const [outcome] = await log.append(topic, [{ partition: 0, value: Buffer.from(value) }]);
    if (outcome?.status === 'stored') process.stdout.write(`${outcome.offset} ${value}\n`);
  }
}
await Promise.all(Array.from({ length: 64 }, appendOneByOne));
