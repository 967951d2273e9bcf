import type { ClaimOutcome, FoldPartition, KeyClaim, KeyHolder, StateStore } from '@weir/ports/state-store';
import { CLAIM_CONFIRMED_MS, CLAIM_PENDING_MS } from '@weir/ports/state-store';

export interface StateStoreFixture {
  readonly store: StateStore;
  /** Another client of the same state where the adapter allows it, else the same. The fixture closes it. */
  another(): Promise<StateStore>;
  /** Closes every handle and opens the same state again. Pending claims may be forgotten, nothing else is. */
  reopen(): Promise<StateStore>;
  /** Moves the store's clock on; absent where the store's clock is its own. */
  readonly passTime?: (ms: number) => void;
  close(): Promise<void>;
}

const HOUR_MS = 3600_000;
const WINDOW_MS = 24 * HOUR_MS;

/** What every state store keeps; asks for nothing but the port's promises. */
export function stateStoreContract(name: string, openFixture: () => Promise<StateStoreFixture>): void {
  describe(`${name} keeps the state store's contract`, () => {
    let fixture: StateStoreFixture;
    let site: string;
    let sites = 0;

    beforeAll(async () => {
      fixture = await openFixture();
    });
    beforeEach(() => {
      site = `site-${sites++}`;
    });
    afterAll(() => fixture.close());

    const claim = (owner: string, key = 'k'): KeyClaim => ({ siteId: site, key, owner });
    const claimOne = async (item: KeyClaim): Promise<ClaimOutcome | undefined> =>
      (await fixture.store.claimKeys([item]))[0];

    describe('claims', () => {
      test('of 32 concurrent claims of one key exactly one is claimed, the others are pending', async () => {
        const other = await fixture.another();
        const outcomes = await Promise.all(
          Array.from({ length: 32 }, (_, i) => (i % 2 === 0 ? fixture.store : other).claimKeys([claim(`owner-${i}`)])),
        );
        expect(outcomes.flat().toSorted()).toEqual(['claimed', ...Array(31).fill('pending')]);
      });

      test('one call claims many, in order', async () => {
        expect(await fixture.store.claimKeys([claim('a', 'x'), claim('b', 'y'), claim('c', 'x')])).toEqual([
          'claimed',
          'claimed',
          'pending',
        ]);
        expect(await fixture.store.claimKeys([])).toEqual([]);
      });

      test('keys of two sites never meet', async () => {
        expect(await claimOne(claim('a'))).toBe('claimed');
        expect(await claimOne({ siteId: `${site}-other`, key: 'k', owner: 'b' })).toBe('claimed');
      });

      test('a released key is free at once; only its owner can release it', async () => {
        await claimOne(claim('a'));
        await fixture.store.releaseKeys([claim('b')]);
        expect(await claimOne(claim('b'))).toBe('pending');
        await fixture.store.releaseKeys([claim('a')]);
        expect(await claimOne(claim('b'))).toBe('claimed');
      });

      test('a confirmed key stays so, whoever asks or releases, also after opening again', async () => {
        await claimOne(claim('a'));
        await fixture.store.confirmKeys([claim('a')]);
        expect(await claimOne(claim('a'))).toBe('confirmed');
        await fixture.store.releaseKeys([claim('a')]);
        expect(await claimOne(claim('b'))).toBe('confirmed');
        const again = await fixture.reopen();
        expect(await again.claimKeys([claim('c')])).toEqual(['confirmed']);
      });

      test('who does not hold a pending claim can not confirm it; a key that nobody holds can be confirmed', async () => {
        await claimOne(claim('a'));
        await fixture.store.confirmKeys([claim('b')]);
        expect(await claimOne(claim('c'))).toBe('pending');
        await fixture.store.confirmKeys([claim('b', 'free')]);
        expect(await claimOne(claim('c', 'free'))).toBe('confirmed');
      });

      test('confirming and releasing nothing is nothing', async () => {
        await fixture.store.confirmKeys([]);
        await fixture.store.releaseKeys([claim('nobody')]);
        expect(await claimOne(claim('a'))).toBe('claimed');
      });

      test('a pending claim is free after its time, a confirmed key 24 h after its first confirmation', async () => {
        const { passTime } = fixture;
        if (passTime === undefined) return;
        await claimOne(claim('a'));
        passTime(CLAIM_PENDING_MS - 1);
        expect(await claimOne(claim('b'))).toBe('pending');
        passTime(1);
        expect(await claimOne(claim('b'))).toBe('claimed');
        await fixture.store.confirmKeys([claim('b')]);
        passTime(CLAIM_CONFIRMED_MS - 1);
        await fixture.store.confirmKeys([claim('late')]);
        expect(await claimOne(claim('c'))).toBe('confirmed');
        passTime(1);
        expect(await claimOne(claim('c'))).toBe('claimed');
      });
    });

    describe('holdFirst', () => {
      const holder = (raw: string, receivedAt: number, key = 'k'): KeyHolder => ({
        siteId: site,
        key,
        holder: raw,
        receivedAt,
      });
      const hold = async (...records: readonly KeyHolder[]) =>
        (await fixture.store.holdFirst(records, WINDOW_MS)).map((answer) => answer.holder);

      test("the first holds the key for all that come within 24 h by the records' own times", async () => {
        const [answer] = await fixture.store.holdFirst([holder('0:1', 1_000)], WINDOW_MS);
        expect(answer).toEqual(holder('0:1', 1_000));
        expect(await fixture.store.holdFirst([holder('1:7', 1_000 + WINDOW_MS - 1)], WINDOW_MS)).toEqual([answer]);
        expect(await hold(holder('2:9', 1_000 + WINDOW_MS))).toEqual(['2:9']);
        expect(await hold(holder('2:10', 1_001 + WINDOW_MS))).toEqual(['2:9']);
      });

      test('times long ago and times to come are as good as any other', async () => {
        expect(await hold(holder('0:1', 5), holder('0:2', 6))).toEqual(['0:1', '0:1']);
        const future = Date.UTC(2099, 0, 1);
        expect(await hold(holder('0:3', future, 'f'), holder('0:4', future + 1, 'f'))).toEqual(['0:3', '0:3']);
      });

      test('in one call the order decides', async () => {
        expect(await hold(holder('0:1', 10), holder('0:2', 10), holder('0:1', 10), holder('0:3', 10, 'other'))).toEqual(
          ['0:1', '0:1', '0:1', '0:3'],
        );
      });

      test('repeating the same records gives the same answers, also over a new window and after opening again', async () => {
        const records = [
          holder('0:1', 1_000),
          holder('0:2', 2_000),
          holder('0:3', 1_000 + WINDOW_MS),
          holder('0:4', 2_000 + WINDOW_MS),
        ];
        const answers = ['0:1', '0:1', '0:3', '0:3'];
        expect(await hold(...records)).toEqual(answers);
        expect(await hold(...records)).toEqual(answers);
        await fixture.reopen();
        for (const [i, record] of records.entries()) expect(await hold(record)).toEqual([answers[i]]);
      });

      test('a dropped holder leaves its key to the next one; other holders and other windows stay', async () => {
        await hold(holder('0:1', 1_000), holder('0:2', 1_000 + WINDOW_MS), holder('0:9', 5, 'other'));
        await fixture.store.dropHolders([holder('0:2', 1_000 + WINDOW_MS), holder('0:3', 5, 'other')]);
        expect(await hold(holder('0:4', 1_001), holder('0:5', 1_001 + WINDOW_MS), holder('0:6', 6, 'other'))).toEqual([
          '0:1',
          '0:5',
          '0:9',
        ]);
        await fixture.store.dropHolders([holder('0:1', 1_000), holder('0:5', 1_001 + WINDOW_MS)]);
        await fixture.store.dropHolders([]);
        expect(await hold(holder('0:7', 1_000))).toEqual(['0:7']);
      });

      test('of concurrent calls exactly one is the first', async () => {
        const other = await fixture.another();
        const answers = await Promise.all(
          Array.from({ length: 32 }, (_, i) =>
            (i % 2 === 0 ? fixture.store : other).holdFirst([holder(`${i}:0`, 1_000 + i)], WINDOW_MS),
          ),
        );
        expect(new Set(answers.flat().map((answer) => answer.holder)).size).toBe(1);
      });
    });

    describe('folds', () => {
      let partition: FoldPartition;
      beforeEach(() => {
        partition = { logId: `log-of-${site}`, partition: 0 };
      });
      const put = (key: string, value: string | undefined, ttlMs = HOUR_MS) => ({ key, value, ttlMs });

      test('nothing applied yet is 0 and no values', async () => {
        expect(await fixture.store.readFold(partition, ['a', 'b'])).toEqual({
          appliedTo: 0,
          values: [undefined, undefined],
        });
      });

      test('changes and the offset are written together, and read together, also after opening again', async () => {
        await fixture.store.writeFold(partition, { from: 0, to: 10 }, [put('a', '1'), put('b', 'ü 2'), put('c', '')]);
        expect(await fixture.store.readFold(partition, ['b', 'a', 'none', 'c'])).toEqual({
          appliedTo: 10,
          values: ['ü 2', '1', undefined, ''],
        });
        await fixture.store.writeFold(partition, { from: 10, to: 12 }, [put('a', '3'), put('b', undefined)]);
        const again = await fixture.reopen();
        expect(await again.readFold(partition, ['a', 'b'])).toEqual({ appliedTo: 12, values: ['3', undefined] });
      });

      test('what was applied already is not applied again', async () => {
        const { store } = fixture;
        expect(await store.writeFold(partition, { from: 0, to: 10 }, [put('a', 'new')])).toBe(10);
        expect(await store.writeFold(partition, { from: 0, to: 10 }, [put('a', 'again')])).toBe(10);
        expect(await store.writeFold(partition, { from: 0, to: 9 }, [put('a', 'older')])).toBe(10);
        expect(await store.readFold(partition, ['a'])).toEqual({ appliedTo: 10, values: ['new'] });
        const both = await Promise.all([
          store.writeFold(partition, { from: 10, to: 11 }, [put('a', '11')]),
          store.writeFold(partition, { from: 10, to: 11 }, [put('a', "a zombie's")]),
        ]);
        expect(both).toEqual([11, 11]);
      });

      test('a run that overlaps what was applied is applied as a whole: it was made from the same records', async () => {
        await fixture.store.writeFold(partition, { from: 0, to: 5 }, [put('a', '5')]);
        expect(await fixture.store.writeFold(partition, { from: 3, to: 8 }, [put('a', '8')])).toBe(8);
        expect(await fixture.store.readFold(partition, ['a'])).toEqual({ appliedTo: 8, values: ['8'] });
      });

      test('nothing is applied past what is missing, and the answer says where the store stands', async () => {
        expect(await fixture.store.writeFold(partition, { from: 3, to: 8 }, [put('a', '1')])).toBe(0);
        await fixture.store.writeFold(partition, { from: 0, to: 2 }, []);
        expect(await fixture.store.writeFold(partition, { from: 3, to: 8 }, [put('a', '2')])).toBe(2);
        expect(await fixture.store.readFold(partition, ['a'])).toEqual({ appliedTo: 2, values: [undefined] });
      });

      test('runs that follow each other may be written at once', async () => {
        const offsets = Array.from({ length: 20 }, (_, from) => from);
        const answers = await Promise.all(
          offsets.map((from) => fixture.store.writeFold(partition, { from, to: from + 1 }, [put('a', `${from}`)])),
        );
        expect(answers).toEqual(offsets.map((from) => from + 1));
        expect(await fixture.store.readFold(partition, ['a'])).toEqual({ appliedTo: 20, values: ['19'] });
      });

      test('a change without keys moves the offset', async () => {
        await fixture.store.writeFold(partition, { from: 0, to: 5 }, []);
        expect(await fixture.store.readFold(partition, [])).toEqual({ appliedTo: 5, values: [] });
      });

      test('partitions and logs are apart', async () => {
        await fixture.store.writeFold(partition, { from: 0, to: 10 }, [put('a', '1')]);
        expect((await fixture.store.readFold({ ...partition, partition: 1 }, [])).appliedTo).toBe(0);
        expect((await fixture.store.readFold({ ...partition, logId: 'another log' }, [])).appliedTo).toBe(0);
      });

      test('long keys and keys of any characters are apart', async () => {
        const keys = [
          `${site}/${'x'.repeat(490)}1`,
          `${site}/${'x'.repeat(490)}2`,
          `${site}/${'€'.repeat(400)}`,
          `${site}/a\0b`,
          `${site}/a`,
        ];
        await fixture.store.writeFold(
          partition,
          { from: 0, to: 1 },
          keys.map((key, i) => put(key, `${i}`)),
        );
        expect((await fixture.store.readFold(partition, keys)).values).toEqual(['0', '1', '2', '3', '4']);
      });

      test('a value is gone after its time', async () => {
        const { passTime } = fixture;
        if (passTime === undefined) return;
        await fixture.store.writeFold(partition, { from: 0, to: 1 }, [put('a', '1', 1_000), put('b', '2', 5_000)]);
        passTime(1_000);
        expect((await fixture.store.readFold(partition, ['a', 'b'])).values).toEqual([undefined, '2']);
      });
    });

    test('`ping` resolves', async () => {
      await expect(fixture.store.ping()).resolves.toBeUndefined();
    });
  });
}
