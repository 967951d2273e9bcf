import type { ClaimOutcome, KeyClaim, RawPartition, StateStore } from '@weir/ports/state-store';
import { CLAIM_PENDING_MS, IDEMPOTENCY_WINDOW_MS } from '@weir/ports/state-store';
import { useOpened } from '@weir/testkit/use-opened';
import { firstSeenKeysContract } from './first-seen-keys.contract.ts';

export interface StateStoreFixture {
  readonly store: StateStore;
  /** Another client of the same store if the adapter allows one, otherwise the same client. The fixture closes it. */
  another(): Promise<StateStore>;
  /** Closes every client and opens the same store again. This may lose pending claims, but nothing else. */
  reopen(): Promise<StateStore>;
  /** Advances the store's clock; absent if the test cannot control that clock. */
  readonly passTime?: (ms: number) => void;
  close(): Promise<void>;
}

const HOUR_MS = 3600_000;

/** The tests that every implementation of the state store passes. They use only what the port promises. */
export function stateStoreContract(name: string, openFixture: () => Promise<StateStoreFixture>): void {
  describe(`${name} fulfils the state store's contract`, () => {
    let site: string;
    let sites = 0;

    const fixture = useOpened(openFixture);
    beforeEach(() => {
      site = `site-${sites++}`;
    });

    const claim = (owner: string, key = 'k'): KeyClaim => ({ siteId: site, key, owner });
    const claimOne = async (item: KeyClaim): Promise<ClaimOutcome | undefined> =>
      (await fixture.store.claimKeys([item]))[0];

    describe('claims', () => {
      test('of 32 concurrent claims of one key, one is claimed and the others are pending', async () => {
        const other = await fixture.another();
        const outcomes = await Promise.all(
          Array.from({ length: 32 }, (_, i) => (i % 2 === 0 ? fixture.store : other).claimKeys([claim(`owner-${i}`)])),
        );
        expect(outcomes.flat().toSorted()).toEqual(['claimed', ...Array(31).fill('pending')]);
      });

      test('one call claims several keys and returns the outcomes in order', async () => {
        expect(await fixture.store.claimKeys([claim('a', 'x'), claim('b', 'y'), claim('c', 'x')])).toEqual([
          'claimed',
          'claimed',
          'pending',
        ]);
        expect(await fixture.store.claimKeys([])).toEqual([]);
      });

      test('two sites have separate keys', async () => {
        expect(await claimOne(claim('a'))).toBe('claimed');
        expect(await claimOne({ siteId: `${site}-other`, key: 'k', owner: 'b' })).toBe('claimed');
      });

      test('a released key can be claimed at once; only its owner can release it', async () => {
        await claimOne(claim('a'));
        await fixture.store.releaseKeys([claim('b')]);
        expect(await claimOne(claim('b'))).toBe('pending');
        await fixture.store.releaseKeys([claim('a')]);
        expect(await claimOne(claim('b'))).toBe('claimed');
      });

      test('a confirmed key stays confirmed for every owner, after a release and after reopening', async () => {
        await claimOne(claim('a'));
        await fixture.store.confirmKeys([claim('a')]);
        expect(await claimOne(claim('a'))).toBe('confirmed');
        await fixture.store.releaseKeys([claim('a')]);
        expect(await claimOne(claim('b'))).toBe('confirmed');
        const again = await fixture.reopen();
        expect(await again.claimKeys([claim('c')])).toEqual(['confirmed']);
      });

      test('a key that another owner has claimed cannot be confirmed; a free key can', async () => {
        await claimOne(claim('a'));
        await fixture.store.confirmKeys([claim('b')]);
        expect(await claimOne(claim('c'))).toBe('pending');
        await fixture.store.confirmKeys([claim('b', 'free')]);
        expect(await claimOne(claim('c', 'free'))).toBe('confirmed');
      });

      test('confirming no keys and releasing an unknown key have no effect', async () => {
        await fixture.store.confirmKeys([]);
        await fixture.store.releaseKeys([claim('unknown')]);
        expect(await claimOne(claim('a'))).toBe('claimed');
      });

      test('a pending claim expires after its time, a confirmed key 24 h after its first confirmation', async () => {
        const { passTime } = fixture;
        if (passTime === undefined) return;
        await claimOne(claim('a'));
        passTime(CLAIM_PENDING_MS - 1);
        expect(await claimOne(claim('b'))).toBe('pending');
        passTime(1);
        expect(await claimOne(claim('b'))).toBe('claimed');
        await fixture.store.confirmKeys([claim('b')]);
        passTime(IDEMPOTENCY_WINDOW_MS - 1);
        await fixture.store.confirmKeys([claim('late')]);
        expect(await claimOne(claim('c'))).toBe('confirmed');
        passTime(1);
        expect(await claimOne(claim('c'))).toBe('claimed');
      });
    });

    firstSeenKeysContract({ fixture: () => fixture, site: () => site });

    describe('partition state', () => {
      const epochOf = async (store: StateStore): Promise<string> => (await store.readEpoch('contract', 1)).id;
      let partition: RawPartition;
      let epoch: string;
      beforeEach(async () => {
        epoch = await epochOf(fixture.store);
        partition = { logId: `log-of-${site}`, partition: 0 };
      });
      const put = (key: string, value: string | undefined, ttlMs = HOUR_MS) => ({ key, value, ttlMs });

      test('a new partition has the offset 0 and no values', async () => {
        expect(await fixture.store.readState(epoch, partition, ['a', 'b'])).toEqual({
          appliedTo: 0,
          values: [undefined, undefined],
        });
      });

      test('values and offset are written and read together, also after reopening', async () => {
        await fixture.store.writeState(epoch, partition, { from: 0, to: 10 }, [
          put('a', '1'),
          put('b', 'ü 2'),
          put('c', ''),
        ]);
        expect(await fixture.store.readState(epoch, partition, ['b', 'a', 'none', 'c'])).toEqual({
          appliedTo: 10,
          values: ['ü 2', '1', undefined, ''],
        });
        await fixture.store.writeState(epoch, partition, { from: 10, to: 12 }, [put('a', '3'), put('b', undefined)]);
        const again = await fixture.reopen();
        expect(await again.readState(await epochOf(again), partition, ['a', 'b'])).toEqual({
          appliedTo: 12,
          values: ['3', undefined],
        });
      });

      test('a range that was applied is not applied again', async () => {
        const { store } = fixture;
        expect(await store.writeState(epoch, partition, { from: 0, to: 10 }, [put('a', 'new')])).toBe(10);
        expect(await store.writeState(epoch, partition, { from: 0, to: 10 }, [put('a', 'again')])).toBe(10);
        expect(await store.writeState(epoch, partition, { from: 0, to: 9 }, [put('a', 'older')])).toBe(10);
        expect(await store.readState(epoch, partition, ['a'])).toEqual({ appliedTo: 10, values: ['new'] });
        const both = await Promise.all([
          store.writeState(epoch, partition, { from: 10, to: 11 }, [put('a', '11')]),
          store.writeState(epoch, partition, { from: 10, to: 11 }, [put('a', 'of an old owner')]),
        ]);
        expect(both).toEqual([11, 11]);
      });

      test('a range that overlaps the applied one is applied as a whole', async () => {
        await fixture.store.writeState(epoch, partition, { from: 0, to: 5 }, [put('a', '5')]);
        expect(await fixture.store.writeState(epoch, partition, { from: 3, to: 8 }, [put('a', '8')])).toBe(8);
        expect(await fixture.store.readState(epoch, partition, ['a'])).toEqual({ appliedTo: 8, values: ['8'] });
      });

      test('a range after missing records is not applied, and the result is the stored offset', async () => {
        expect(await fixture.store.writeState(epoch, partition, { from: 3, to: 8 }, [put('a', '1')])).toBe(0);
        await fixture.store.writeState(epoch, partition, { from: 0, to: 2 }, []);
        expect(await fixture.store.writeState(epoch, partition, { from: 3, to: 8 }, [put('a', '2')])).toBe(2);
        expect(await fixture.store.readState(epoch, partition, ['a'])).toEqual({ appliedTo: 2, values: [undefined] });
      });

      test('consecutive ranges may be written concurrently', async () => {
        const offsets = Array.from({ length: 20 }, (_, from) => from);
        const answers = await Promise.all(
          offsets.map((from) =>
            fixture.store.writeState(epoch, partition, { from, to: from + 1 }, [put('a', `${from}`)]),
          ),
        );
        expect(answers).toEqual(offsets.map((from) => from + 1));
        expect(await fixture.store.readState(epoch, partition, ['a'])).toEqual({ appliedTo: 20, values: ['19'] });
      });

      test('a write without changes advances the offset', async () => {
        await fixture.store.writeState(epoch, partition, { from: 0, to: 5 }, []);
        expect(await fixture.store.readState(epoch, partition, [])).toEqual({ appliedTo: 5, values: [] });
      });

      test('partitions and logs have separate state', async () => {
        await fixture.store.writeState(epoch, partition, { from: 0, to: 10 }, [put('a', '1')]);
        expect((await fixture.store.readState(epoch, { ...partition, partition: 1 }, [])).appliedTo).toBe(0);
        expect((await fixture.store.readState(epoch, { ...partition, logId: 'another log' }, [])).appliedTo).toBe(0);
      });

      test('long keys and keys with any characters are distinct', async () => {
        const keys = [
          `${site}/${'x'.repeat(490)}1`,
          `${site}/${'x'.repeat(490)}2`,
          `${site}/${'€'.repeat(400)}`,
          `${site}/a\0b`,
          `${site}/a`,
        ];
        await fixture.store.writeState(
          epoch,
          partition,
          { from: 0, to: 1 },
          keys.map((key, i) => put(key, `${i}`)),
        );
        expect((await fixture.store.readState(epoch, partition, keys)).values).toEqual(['0', '1', '2', '3', '4']);
      });

      test('a value expires after its time to live', async () => {
        const { passTime } = fixture;
        if (passTime === undefined) return;
        await fixture.store.writeState(epoch, partition, { from: 0, to: 1 }, [
          put('a', '1', 1_000),
          put('b', '2', 5_000),
        ]);
        passTime(1_000);
        expect((await fixture.store.readState(epoch, partition, ['a', 'b'])).values).toEqual([undefined, '2']);
      });
    });

    describe('removal', () => {
      const at = 1_900_000_000_000;
      const epochOf = async (): Promise<string> => (await fixture.store.readEpoch('contract', 1)).id;
      const seen = async (siteId: string, key: string, recordId: string): Promise<string | undefined> => {
        const record = { siteId, key, recordId, receivedAt: at };
        return (await fixture.store.insertFirstSeen(await epochOf(), [record], HOUR_MS))?.[0]?.recordId;
      };
      const confirm = async (siteId: string, key: string): Promise<void> => {
        await fixture.store.claimKeys([{ siteId, key, owner: 'a' }]);
        await fixture.store.confirmKeys([{ siteId, key, owner: 'a' }]);
        expect(await seen(siteId, key, 'log:0:1')).toBe('log:0:1');
      };
      /** Whether a key is free: a request can claim it, and a record with it can become its first-seen record. */
      const isFree = async (siteId: string, key: string): Promise<boolean> => {
        const [claimed] = await fixture.store.claimKeys([{ siteId, key, owner: 'b' }]);
        const first = await seen(siteId, key, 'log:0:2');
        expect(claimed === 'claimed').toBe(first === 'log:0:2');
        return claimed === 'claimed';
      };

      test('removed state is gone; other keys and the offset stay', async () => {
        const partition = { logId: `log-of-${site}`, partition: 0 };
        const epoch = await epochOf();
        const changes = ['a', 'b\0c', 'd'].map((key) => ({ key, value: key, ttlMs: HOUR_MS }));
        await fixture.store.writeState(epoch, partition, { from: 0, to: 3 }, changes);
        await fixture.store.removeState(epoch, partition, ['a', 'b\0c', 'unknown']);
        await fixture.store.removeState(epoch, partition, []);
        const values = [undefined, undefined, 'd'];
        expect(await fixture.store.readState(epoch, partition, ['a', 'b\0c', 'd'])).toEqual({ appliedTo: 3, values });
      });

      test('removed keys are free; other keys are not', async () => {
        for (const key of ['x', 'y']) await confirm(site, key);
        await fixture.store.removeKeys(site, ['x', 'unknown']);
        await fixture.store.removeKeys(site, []);
        expect([await isFree(site, 'x'), await isFree(site, 'y')]).toEqual([true, false]);
      });

      test('all keys of a site are removed, and no keys of sites with a similar ID', async () => {
        const keys = Array.from({ length: 30 }, (_, nth) => `k:${nth}`);
        for (const key of keys) await confirm(site, key);
        for (const other of [`${site}0`, `${site}-`]) await confirm(other, 'k:0');
        await fixture.store.removeSiteKeys(site);
        for (const key of keys) expect(await isFree(site, key)).toBe(true);
        expect([await isFree(`${site}0`, 'k:0'), await isFree(`${site}-`, 'k:0')]).toEqual([false, false]);
      });
    });

    test('`ping` resolves', async () => {
      await expect(fixture.store.ping()).resolves.toBeUndefined();
    });
  });
}
