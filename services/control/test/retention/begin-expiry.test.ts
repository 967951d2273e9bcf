import { type StartRetentionDeps, startRetention } from '@weir/control/retention/start-retention';
import { KEEP_FOREVER } from '@weir/domain/registry/keep';
import type { Expiry } from '@weir/ports/registry';
import { deferred } from '@weir/testkit/eventually';

const DAY_MS = 86_400_000;

/**
 * A process whose registry shows a change of another process only after `readToEnd`, or after a write of its own. `log` is the registry as all
 * processes will see it.
 */
function registryOf(log: { expiry: Expiry | undefined }) {
  let seen = log.expiry;
  const read = async () => {
    seen = log.expiry;
  };
  return {
    sites: () => [{ siteId: 'shop', keep: { events: '10d' } }],
    erasures: () => [],
    replay: () => undefined,
    writersPause: () => undefined,
    onChange: () => undefined,
    onReplayChange: () => () => undefined,
    expiry: () => seen,
    putExpiry(expiry: Expiry) {
      log.expiry = expiry;
      return read();
    },
    readToEnd: read,
  };
}

test('an expiry that another process begins during the search for expired rows is not replaced', async () => {
  const log: { expiry: Expiry | undefined } = { expiry: undefined };
  const searched = deferred<void>();
  const found = deferred<readonly object[]>();
  const done = jest.fn();
  const retention = startRetention({
    registry: registryOf(log),
    eventLog: { logId: 'log', partitionCount: 1 },
    analytics: {
      highestRawOffset: async () => 9,
      async select(query: string) {
        if (!query.startsWith('SELECT 1 FROM')) return [{ name: 'weir', live: true }];
        searched.resolve();
        return found.promise;
      },
    },
    clock: () => 1_000 * DAY_MS,
    ready: Promise.resolve(),
    keep: KEEP_FOREVER,
    alone: false,
    workerId: 'own',
    logger: { info: () => undefined, error: () => undefined },
    metrics: { done },
  } as unknown as StartRetentionDeps);
  await searched.promise;
  const other: Expiry = {
    ...{ expiryId: 'other', siteIds: ['shop'], before: { events: 990 * DAY_MS }, startedAt: 0 },
    phase: 'deleting',
    ...{ ends: [10], worker: { id: 'other', at: 1_000 * DAY_MS } },
  };
  log.expiry = other;
  found.resolve([{ 1: 1 }]);
  await retention.close();
  expect(log.expiry).toEqual(other);
  expect(done).not.toHaveBeenCalled();
});
