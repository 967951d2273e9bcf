import type { RawPartition, StateStore } from '@weir/ports/state-store';
import type { StateBefore, StateValue } from './state-before.ts';

export interface ReplayStateDeps {
  /** The store of this replay. It is separate from the store of live traffic. */
  readonly store: StateStore;
  /** The offset in `events.raw` at which the replay begins in a partition. */
  readonly firstRawOffset: (partition: number) => number;
  readonly stateBefore: (partition: RawPartition, rawOffset: number) => Promise<StateBefore>;
  /** The time at which the first record of the partition's current batch was appended to the log. */
  readonly logTime: (partition: number) => number;
}

/**
 * How long the store keeps a value: longer than any replay takes. A replay processes old records, so the clock does not decide whether a value has
 * expired. `liveValue` compares its expiry with the time at which the current records were appended to the log.
 */
const STORED_MS = 400 * 24 * 3600_000;

/**
 * The state of a replay from raw, which enriches the records of `events.raw` again (docs/decisions/0029). It begins with the sessions and links that
 * the enricher had before the first record of the replay, and begins with them again after a loss of state. It does not need earlier idempotency
 * keys, because a replay does not decide again which records are duplicates.
 */
export function createReplayState(deps: ReplayStateDeps): StateStore {
  const { store, firstRawOffset, stateBefore, logTime } = deps;

  async function begin(epoch: string, partition: RawPartition, appliedTo: number, first: number): Promise<void> {
    const before = await stateBefore(partition, first);
    // Each part is one write with an applied offset of its own, because the store ignores a write that does not increase the applied offset. So there
    // cannot be more parts than offsets. A restart writes all parts again.
    const parts = Math.min(before.parts, first - appliedTo);
    for (let nth = 0; nth < parts; nth++) {
      const values = await before.read(nth, parts);
      const to = nth === parts - 1 ? first : appliedTo + 1 + nth;
      const changes = values.map(({ key, value, expiresAt }) => change(key, value, expiresAt));
      const applied = await store.writeState(epoch, partition, { from: 0, to }, changes);
      if (applied !== to) return;
    }
  }

  return {
    ...store,
    async readState(epoch, partition, keys) {
      const first = firstRawOffset(partition.partition);
      let state = await store.readState(epoch, partition, keys);
      if (state.appliedTo < first) {
        await begin(epoch, partition, state.appliedTo, first);
        state = await store.readState(epoch, partition, keys);
      }
      const now = logTime(partition.partition);
      return { appliedTo: state.appliedTo, values: state.values.map((stored) => liveValue(stored, now)) };
    },
    writeState(epoch, partition, range, changes) {
      const now = logTime(partition.partition);
      const stored = changes.map(({ key, value, ttlMs }) => change(key, value, now + ttlMs));
      return store.writeState(epoch, partition, range, stored);
    },
    overwriteFirstSeen: async () => true,
  };
}

/** Returns the change that stores a value. The stored text is `<expiry in Unix milliseconds> <value>`. */
function change(key: string, value: StateValue['value'] | undefined, expiresAt: number) {
  return { key, value: value === undefined ? undefined : `${expiresAt} ${value}`, ttlMs: STORED_MS };
}

function liveValue(stored: string | undefined, now: number): string | undefined {
  if (stored === undefined) return undefined;
  const space = stored.indexOf(' ');
  return Number(stored.slice(0, space)) <= now ? undefined : stored.slice(space + 1);
}
