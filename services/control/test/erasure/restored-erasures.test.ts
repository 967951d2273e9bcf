import { untilRestoredErasuresEnd } from '@weir/control/backups/restored-erasures';
import type { Erasure } from '@weir/ports/registry';
import { createLogger } from '@weir/runtime/logger';

const OPEN: Erasure = {
  ...{ siteId: 's', erasureId: 'e', at: 1, whole: false, visitors: 1, users: 0 },
  phase: 'deleting',
  ...{ removed: {}, begun: {}, restored: true },
};

test('a restored erasure whose rows are deleted does not delay the start while its tombstones cannot be published', async () => {
  const stop = new AbortController();
  let erasure = OPEN;
  let isOver = false;
  const wait = untilRestoredErasuresEnd({ erasures: () => [erasure] }, createLogger('error'), stop.signal).then(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  erasure = { ...OPEN, finishedAt: 2 };
  await wait;
  expect(isOver).toBe(true);
});
