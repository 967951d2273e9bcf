import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { createReplayState } from '@weir/enricher/replay/replay-state';
import { sessionsOfRows } from '@weir/enricher/replay/sessions-of-rows';
import type { StateBefore } from '@weir/enricher/replay/state-before';

const PARTITION = { logId: 'log', partition: 0 };
const FIRST = 100;
const made = (digit: string): string => `s_${digit.repeat(32)}`;
const minutes = (n: number): number => n * 60_000;

test('the sessions of rows are those of the state: connected ones are one, with the ID of the newest row', () => {
  const rows = [
    { id: made('a'), start: minutes(0), last: minutes(10), newest: 3 },
    { id: made('b'), start: minutes(50), last: minutes(60), newest: 5 },
    { id: made('c'), start: minutes(30), last: minutes(30), newest: 9 },
    { id: made('d'), start: minutes(120), last: minutes(130), newest: 7 },
    { id: 'sent', start: minutes(20), last: minutes(140), newest: 8 },
  ];
  expect(sessionsOfRows(rows).map(({ id, start, last }) => [id, start / 60_000, last / 60_000])).toEqual([
    [made('d'), 120, 130],
    ['sent', 20, 140],
    [made('c'), 0, 60],
  ]);
});

describe('the state of a replay', () => {
  let folder: string;
  let store: Awaited<ReturnType<typeof openLmdbStateStore>>;
  let now = 0;
  let read: string[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-replay-state-'));
    store = await openLmdbStateStore({ folder, clock: Date.now });
    now = 0;
    read = [];
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  function replayState(failsAt = -1) {
    const before: StateBefore = {
      parts: 3,
      async read(nth, parts) {
        read.push(`${nth}/${parts}`);
        if (nth === failsAt) throw new Error('ClickHouse is away');
        return [{ key: `key${nth}`, value: `value ${nth}`, expiresAt: 1_000 * (nth + 1) }];
      },
    };
    const deps = { store, firstRawOffset: () => FIRST, stateBefore: async () => before, logTime: () => now };
    return createReplayState(deps);
  }
  const epochOf = async () => (await store.readEpoch('log', 1)).id;
  const KEYS = ['key0', 'key1', 'key2'];

  test('begins with the state before the first record, and is made again as a whole after an interruption', async () => {
    const epoch = await epochOf();
    await expect(replayState(1).readState(epoch, PARTITION, KEYS)).rejects.toThrow('away');
    const found = await replayState().readState(epoch, PARTITION, KEYS);
    expect(found).toEqual({ appliedTo: FIRST, values: ['value 0', 'value 1', 'value 2'] });
    expect(read).toEqual(['0/3', '1/3', '0/3', '1/3', '2/3']);
    await replayState().readState(epoch, PARTITION, KEYS);
    expect(read).toHaveLength(5);
  });

  test('expires by the time of the log', async () => {
    const epoch = await epochOf();
    const state = replayState();
    await state.readState(epoch, PARTITION, []);
    now = 2_000;
    expect((await state.readState(epoch, PARTITION, KEYS)).values).toEqual([undefined, undefined, 'value 2']);
    const change = { key: 'key0', value: 'later', ttlMs: 500 };
    await state.writeState(epoch, PARTITION, { from: FIRST, to: FIRST + 1 }, [change]);
    expect((await state.readState(epoch, PARTITION, ['key0'])).values).toEqual(['later']);
    now = 2_500;
    expect((await state.readState(epoch, PARTITION, ['key0'])).values).toEqual([undefined]);
    const gone = { key: 'key2', value: undefined, ttlMs: 0 };
    await state.writeState(epoch, PARTITION, { from: FIRST + 1, to: FIRST + 2 }, [gone]);
    expect((await state.readState(epoch, PARTITION, ['key2'])).values).toEqual([undefined]);
  });
});
