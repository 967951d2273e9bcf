import { DependencyError } from '@weir/domain/errors';
import { eventually } from '@weir/testkit/eventually';
import { type Engine, useHarness } from './writer-harness.ts';

const { engine, harness } = useHarness({ partitions: 2 });

test('the status drops a partition that never opened here when it is assigned to another writer', async () => {
  const away: Engine['analytics'] = {
    ...engine.analytics,
    async highestRawOffset() {
      throw new DependencyError('analytics_unavailable', 'test');
    },
  };
  const first = await harness.start({ analytics: away });
  await eventually('neither opens', () => first.status().filter(({ lastError }) => lastError).length === 2);
  const second = await harness.start();
  await eventually('the second has one', () => second.status().length === 1);
  expect(first.status().map(({ partition }) => partition)).toEqual([0]);
  await first.close();
  expect(first.status()).toEqual([]);
  await second.close();
});

test('a writer is ready from joining its consumer group until it is closed', async () => {
  let joined = false;
  const { eventLog } = harness;
  const writer = await harness.start({
    eventLog: {
      ...eventLog,
      consume: async (options) => ({ ...(await eventLog.consume(options)), joined: () => joined }),
    },
  });
  expect(writer.ready()).toBe(false);
  joined = true;
  expect(writer.ready()).toBe(true);
  await writer.close();
  expect(writer.ready()).toBe(false);
});
