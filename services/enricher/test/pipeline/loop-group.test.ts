import { DependencyError } from '@weir/domain/errors';
import { eventually } from '@weir/testkit/eventually';
import { type Harness, openHarness } from './loop-harness.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await openHarness();
});
afterEach(() => harness.close());

test('the status drops a partition that never opened here when it is assigned to another enricher', async () => {
  const stateStore = {
    ...harness.stateStore,
    async readState() {
      throw new DependencyError('state_store_unavailable', 'test');
    },
  };
  const first = await harness.start({ stateStore });
  await eventually('neither opens', () => first.status().filter(({ lastError }) => lastError).length === 2);
  const second = await harness.start();
  await eventually('the second has one', () => second.status().length === 1);
  expect(first.status().map(({ partition }) => partition)).toEqual([0]);
});

test('an enricher is ready from joining its consumer group until it is closed', async () => {
  let joined = false;
  const { eventLog } = harness;
  const enricher = await harness.start({
    eventLog: {
      ...eventLog,
      consume: async (options) => ({ ...(await eventLog.consume(options)), joined: () => joined }),
    },
  });
  expect(enricher.ready()).toBe(false);
  joined = true;
  expect(enricher.ready()).toBe(true);
  await enricher.close();
  expect(enricher.ready()).toBe(false);
});

test('the status drops a failure to open a partition when opening succeeds', async () => {
  let failing = true;
  const stateStore: Harness['stateStore'] = {
    ...harness.stateStore,
    async readState(epoch, partition, keys) {
      if (failing) throw new DependencyError('state_store_unavailable', 'test');
      return harness.stateStore.readState(epoch, partition, keys);
    },
  };
  const enricher = await harness.start({ stateStore });
  await eventually('the failure shows', () => enricher.status()[0]?.lastError);
  failing = false;
  await eventually('it is over, with nothing to read', () => enricher.status()[0]?.lastError === undefined);
});
