import type { FirstSeenKey, RawPartition, StateStore } from '@weir/ports/state-store';
import type { StateStoreFixture } from './state-store.contract.ts';

/** What the state store's suite provides to its tests of first-seen keys and epochs. */
export interface FirstSeenKeysContext {
  fixture(): StateStoreFixture;
  /** The site of the current test. */
  site(): string;
}

const WINDOW_MS = 24 * 3600_000;

/** Tests of first-seen keys and epochs. Called within the suite of `state-store.contract.ts`. */
export function firstSeenKeysContract({ fixture, site }: FirstSeenKeysContext): void {
  const epochOf = async (store: StateStore): Promise<string> => (await store.readEpoch('contract', 1)).id;

  describe('insertFirstSeen and overwriteFirstSeen', () => {
    const holder = (raw: string, receivedAt: number, key = 'k'): FirstSeenKey => ({
      siteId: site(),
      key,
      recordId: raw,
      receivedAt,
    });
    const holdIn = async (store: StateStore, records: readonly FirstSeenKey[]) =>
      (await store.insertFirstSeen(await epochOf(store), records, WINDOW_MS)) ?? [];
    const hold = async (...records: readonly FirstSeenKey[]) =>
      (await holdIn(fixture().store, records)).map((answer) => answer.recordId);

    test('a record is a duplicate if its receivedAt is less than 24 h after that of the first record with its key', async () => {
      const answer = holder('0:1', 1_000);
      expect(await holdIn(fixture().store, [answer])).toEqual([answer]);
      expect(await holdIn(fixture().store, [holder('1:7', 1_000 + WINDOW_MS - 1)])).toEqual([answer]);
      expect(await hold(holder('2:9', 1_000 + WINDOW_MS))).toEqual(['2:9']);
      expect(await hold(holder('2:10', 1_001 + WINDOW_MS))).toEqual(['2:9']);
    });

    test('times in the past and in the future are compared in the same way', async () => {
      expect(await hold(holder('0:1', 5), holder('0:2', 6))).toEqual(['0:1', '0:1']);
      const future = Date.UTC(2099, 0, 1);
      expect(await hold(holder('0:3', future, 'f'), holder('0:4', future + 1, 'f'))).toEqual(['0:3', '0:3']);
    });

    test('within one call the first record in order wins', async () => {
      expect(await hold(holder('0:1', 10), holder('0:2', 10), holder('0:1', 10), holder('0:3', 10, 'other'))).toEqual([
        '0:1',
        '0:1',
        '0:1',
        '0:3',
      ]);
    });

    test('the same records give the same results again, also after a new window and after reopening', async () => {
      const records = [
        holder('0:1', 1_000),
        holder('0:2', 2_000),
        holder('0:3', 1_000 + WINDOW_MS),
        holder('0:4', 2_000 + WINDOW_MS),
      ];
      const answers = ['0:1', '0:1', '0:3', '0:3'];
      expect(await hold(...records)).toEqual(answers);
      expect(await hold(...records)).toEqual(answers);
      await fixture().reopen();
      for (const [i, record] of records.entries()) expect(await hold(record)).toEqual([answers[i]]);
    });

    test('overwriting replaces the records within its window; other keys and windows are not changed', async () => {
      await hold(holder('0:1', 1_000), holder('0:2', 1_000 + WINDOW_MS), holder('0:9', 5, 'other'));
      const keep = async (...records: readonly FirstSeenKey[]) =>
        fixture().store.overwriteFirstSeen(await epochOf(fixture().store), records, WINDOW_MS);
      expect(await keep(holder('0:3', 999))).toBe(true);
      expect(await keep()).toBe(true);
      const asked = [holder('0:4', 1_001), holder('0:5', 1_001 + WINDOW_MS), holder('0:6', 6, 'other')];
      expect(await hold(...asked)).toEqual(['0:3', '0:2', '0:9']);
      // Writing the record 0:3 again changes nothing. The record 0:7 then replaces the records 0:3 and 0:2: both are within its window.
      await keep(holder('0:3', 999), holder('0:3', 999));
      expect(await hold(...asked)).toEqual(['0:3', '0:2', '0:9']);
      await keep(holder('0:7', 1_500));
      expect(await hold(...asked)).toEqual(['0:7', '0:7', '0:9']);
      await fixture().reopen();
      expect(await hold(...asked)).toEqual(['0:7', '0:7', '0:9']);
    });

    test('of concurrent records with one key, exactly one becomes the first-seen record', async () => {
      const other = await fixture().another();
      const answers = await Promise.all(
        Array.from({ length: 32 }, (_, i) =>
          holdIn(i % 2 === 0 ? fixture().store : other, [holder(`${i}:0`, 1_000 + i)]),
        ),
      );
      expect(new Set(answers.flat().map((answer) => answer.recordId)).size).toBe(1);
    });
  });

  describe('epochs', () => {
    const partition = (logId: string, number: number): RawPartition => ({ logId, partition: number });
    const one = (): FirstSeenKey => ({ siteId: site(), key: 'k', recordId: '0:1', receivedAt: 1_000 });

    test('the current epoch is the same for all clients and lists the partitions that have checked in', async () => {
      const { store } = fixture();
      const { id, checkedIn } = await store.readEpoch(site(), 3);
      expect([...checkedIn]).toEqual([]);
      expect(await store.checkIn(id, partition(site(), 2))).toBe(true);
      expect(await store.checkIn(id, partition(site(), 2))).toBe(true);
      expect(await store.checkIn(id, partition(site(), 0))).toBe(true);
      const again = await (await fixture().another()).readEpoch(site(), 3);
      expect({ id: again.id, checkedIn: [...again.checkedIn].toSorted() }).toEqual({ id, checkedIn: [0, 2] });
      expect([...(await store.readEpoch(site(), 1)).checkedIn]).toEqual([0]);
      expect([...(await store.readEpoch(`${site()}-other`, 3)).checkedIn]).toEqual([]);
    });

    test('an epoch that is over accepts no keys and no check-ins; the next epoch begins without check-ins', async () => {
      const { store } = fixture();
      const { id } = await store.readEpoch(site(), 2);
      await store.checkIn(id, partition(site(), 0));
      await store.endEpoch('another');
      expect((await store.readEpoch(site(), 2)).id).toBe(id);
      await store.endEpoch(id);
      const next = await store.readEpoch(site(), 2);
      expect(next.id).not.toBe(id);
      expect([...next.checkedIn]).toEqual([]);
      await store.endEpoch(id);
      expect(await store.checkIn(id, partition(site(), 0))).toBe(false);
      expect(await store.insertFirstSeen(id, [one()], WINDOW_MS)).toBeUndefined();
      expect(await store.overwriteFirstSeen(id, [one()], WINDOW_MS)).toBe(false);
      expect(await store.readEpoch(site(), 2)).toEqual(next);
      expect(await store.insertFirstSeen(next.id, [{ ...one(), recordId: '0:2' }], WINDOW_MS)).toMatchObject([
        { recordId: '0:2' },
      ]);
    });
  });
}
