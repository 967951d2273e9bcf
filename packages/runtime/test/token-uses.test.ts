import { DependencyError } from '@weir/domain/errors';
import type { TokenUse } from '@weir/domain/registry/viewer';
import { createTokenUses } from '@weir/runtime/token-uses';

const HOUR_MS = 3_600_000;
let now = 0;
let stored: TokenUse[] = [];
let failure: Error | undefined;
beforeEach(() => {
  now = 1_000_000 * HOUR_MS + 5;
  stored = [];
  failure = undefined;
});

const open = () =>
  createTokenUses({
    clock: () => now,
    registry: {
      tokenUse: (id) => stored.findLast((use) => use.id === id),
      async putTokenUse(use) {
        if (failure !== undefined) throw failure;
        stored.push(use);
      },
    },
  });

test('a use is stored once an hour for each token, with its hour', async () => {
  const uses = open();
  for (let n = 0; n < 10; n++) uses.note('shop', n % 2 === 0 ? 'a' : 'b');
  await uses.idle();
  const hour = 1_000_000 * HOUR_MS;
  expect(stored).toEqual(['a', 'b'].map((id) => ({ siteId: 'shop', id, at: hour })));
  now += HOUR_MS;
  uses.note('shop', 'a');
  await uses.idle();
  expect(stored.at(-1)).toEqual({ siteId: 'shop', id: 'a', at: hour + HOUR_MS });
  expect(stored).toHaveLength(3);
});

test('a process whose clock is behind does not replace the use of a later hour', async () => {
  const uses = open();
  uses.note('shop', 'a');
  await uses.idle();
  now -= HOUR_MS;
  uses.note('shop', 'a');
  await uses.idle();
  expect(stored).toHaveLength(1);
});

test('while the log is not available, a use is tried again after a minute', async () => {
  const uses = open();
  failure = new DependencyError('event_log_unavailable', 'the disk is full');
  uses.note('shop', 'a');
  await uses.idle();
  failure = undefined;
  uses.note('shop', 'a');
  await uses.idle();
  expect(stored).toEqual([]);
  now += 60_001;
  uses.note('shop', 'a');
  await uses.idle();
  expect(stored).toHaveLength(1);
});
