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

test('a partition checks in only after a commit, also if no record was committed before', async () => {
  const { eventLog, stateStore } = harness;
  const calls: string[] = [];
  const enricher = await harness.start({
    eventLog: {
      ...eventLog,
      consume: (options) =>
        eventLog.consume({
          ...options,
          open: (handle) =>
            options.open({
              ...handle,
              async commit(commit) {
                calls.push(`commit ${handle.partition}`);
                await handle.commit(commit);
              },
            }),
        }),
    },
    stateStore: {
      ...stateStore,
      checkIn(epoch, of) {
        calls.push(`check in ${of.partition}`);
        return stateStore.checkIn(epoch, of);
      },
    },
  });
  await eventually('both have checked in', () => calls.filter((call) => call.startsWith('check in')).length === 2);
  await enricher.close();
  expect(calls.toSorted().reverse()).toEqual(['commit 1', 'commit 0', 'check in 1', 'check in 0']);
  for (const partition of [0, 1]) {
    expect(calls.indexOf(`commit ${partition}`)).toBeLessThan(calls.indexOf(`check in ${partition}`));
  }
});
