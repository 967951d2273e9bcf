import { isDependencyError } from '@weir/domain/errors';
import type { AppendRecord, Commit, EventLog } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { JOIN_WITHIN_MS, type Member, type MemberOptions, record, text } from './event-log-member.ts';

/** What the event log's suite provides to its tests of `consume`. */
export interface ConsumeContext {
  log(): EventLog;
  another(): Promise<EventLog>;
  reopen(): Promise<EventLog>;
  /** The topic of the current test. */
  topic(): string;
  append(records: readonly AppendRecord[]): Promise<unknown>;
  member(log: EventLog, options?: MemberOptions): Promise<Member>;
  closeMembers(): Promise<void>;
}

const JOINING_TEST_MS = 300_000;

/** Tests of `consume`. Called within the suite of `event-log.contract.ts`. */
export function consumeContract({ log, another, reopen, topic, append, member, closeMembers }: ConsumeContext): void {
  describe('consume', () => {
    test('starts at the earliest record and delivers later appends', async () => {
      await append([{ ...record('old'), partition: 0 }]);
      const reader = await member(log());
      await reader.has(0, 1);
      await append([{ ...record('new'), partition: 0 }]);
      expect((await reader.has(0, 2)).map(text)).toEqual(['old', 'new']);
      expect(reader.handles.get(0)).toMatchObject({ topic: topic(), partition: 0, committed: undefined });
    });

    test('a batch respects its limits of records and bytes, but has at least one record', async () => {
      await append(Array.from({ length: 20 }, (_, n) => ({ ...record(`${n}`.padStart(10, '0')), partition: 0 })));
      const few = await member(log(), { group: 'few', batchRecordsMax: 7 });
      await few.has(0, 20);
      expect(Math.max(...few.batches.map(({ length }) => length))).toBeLessThanOrEqual(7);
      const small = await member(log(), { group: 'small', batchBytesMax: 35 });
      await small.has(0, 20);
      expect(Math.max(...small.batches.map(({ length }) => length))).toBeLessThanOrEqual(3);
      const tiny = await member(log(), { group: 'tiny', batchBytesMax: 1 });
      expect((await tiny.has(0, 20)).map(({ offset }) => offset)).toEqual(Array.from({ length: 20 }, (_, i) => i));
    });

    test('the next owner receives the commit with its metadata, also after reopening, and `positions` returns it', async () => {
      await append([0, 1, 2, 3].map((n) => ({ ...record(`${n}`), partition: 0 })));
      const reader = await member(log());
      await reader.has(0, 4);
      const commit: Commit = { offset: 3, metadata: '{"plan":"2-3","ü":1}' };
      await reader.handles.get(0)!.commit(commit);
      expect((await log().positions(topic(), 'group'))[0]).toEqual({
        partition: 0,
        first: 0,
        end: 4,
        committed: 3,
        metadata: commit.metadata,
      });
      expect((await log().positions(topic(), 'other'))[0]).toMatchObject({ committed: undefined, metadata: undefined });
      expect(await log().positions(topic(), 'group', [1, 0])).toMatchObject([
        { partition: 1 },
        { partition: 0, end: 4 },
      ]);
      await closeMembers();
      const again = await reopen();
      const next = await member(again);
      expect((await next.has(0, 1)).map(text)).toEqual(['3']);
      expect(next.handles.get(0)!.committed).toEqual(commit);
    });

    test('after a rejected `handle` the records are delivered again to the same consumer, and `onError` is called', async () => {
      await append([0, 1, 2].map((n) => ({ ...record(`${n}`), partition: 0 })));
      let failures = 2;
      const reader = await member(log(), {
        before() {
          if (failures-- > 0) throw new Error('not yet');
        },
      });
      expect((await reader.has(0, 3)).map(text)).toEqual(['0', '1', '2']);
      expect(partitionsOfError(reader, 'not yet')).toEqual([0, 0]);
      expect(reader.opened).toBe(new Set(reader.handles.keys()).size);
    });

    test('a rejected `open` is retried', async () => {
      await append([{ ...record('x'), partition: 0 }]);
      let failures = 1;
      const reader = await member(log(), {
        opening(handle) {
          if (handle.partition === 0 && failures-- > 0) throw new Error('not open yet');
        },
      });
      await reader.has(0, 1);
      expect(partitionsOfError(reader, 'not open yet')).toEqual([0]);
    });

    test('an `open` that is retried finds the commit that the attempt before has made', async () => {
      await append([{ ...record('x'), partition: 0 }]);
      const commit: Commit = { offset: 0, metadata: 'found damage' };
      const found: (Commit | undefined)[] = [];
      const reader = await member(log(), {
        async opening(handle) {
          if (handle.partition !== 0) return;
          found.push(handle.committed);
          if (found.length > 1) return;
          await handle.commit(commit);
          throw new Error('not open yet');
        },
      });
      expect((await reader.has(0, 1)).map(text)).toEqual(['x']);
      expect(found).toEqual([undefined, commit]);
    });

    test('`seek` in `open` and in `handle` sets the offset of the next delivery', async () => {
      await append([0, 1, 2, 3].map((n) => ({ ...record(`${n}`), partition: 0 })));
      let back = true;
      const reader = await member(log(), {
        opening(handle) {
          if (handle.partition === 0) handle.seek(2);
        },
        before(handle, records) {
          if (records.at(-1)!.offset === 3 && back) {
            back = false;
            handle.seek(1);
          }
        },
      });
      expect((await reader.has(0, 5)).map(text)).toEqual(['2', '3', '1', '2', '3']);
    });

    test('a `seek` in an `open` or a `handle` that rejects has no effect, and the call is repeated', async () => {
      await append([0, 1, 2].map((n) => ({ ...record(`${n}`), partition: 0 })));
      const failures = { open: 1, handle: 1 };
      const reader = await member(log(), {
        opening(handle) {
          if (handle.partition !== 0 || failures.open-- <= 0) return;
          handle.seek(2);
          throw new Error('not open yet');
        },
        before(handle, records) {
          if (records.at(-1)?.offset !== 2 || failures.handle-- <= 0) return;
          handle.seek(1);
          throw new Error('not handled yet');
        },
      });
      expect((await reader.has(0, 3)).map(text)).toEqual(['0', '1', '2']);
      expect(partitionsOfError(reader, 'not open yet')).toEqual([0]);
      expect(partitionsOfError(reader, 'not handled yet')).toEqual([0]);
    });

    test('`wake` requests a `handle` call, without records if there are none', async () => {
      const reader = await member(log());
      await eventually('partition 0 is assigned', () => reader.handles.has(0), JOIN_WITHIN_MS);
      const calls = () => reader.batches.length;
      expect(calls()).toBe(0);
      reader.handles.get(0)!.wake();
      await eventually('handle was called', () => calls() === 1);
      expect(reader.batches).toEqual([[]]);
      reader.handles.get(0)!.wake();
      await eventually('handle was called again', () => calls() === 2);
      await append([0, 1].map((n) => ({ ...record(`${n}`), partition: 0 })));
      expect((await reader.has(0, 2)).map(text)).toEqual(['0', '1']);
    });

    test('after a `wake`, `seek` in `handle` sets the offset of the next delivery', async () => {
      await append([0, 1, 2].map((n) => ({ ...record(`${n}`), partition: 0 })));
      let back = true;
      const reader = await member(log(), {
        before(handle, records) {
          if (handle.partition !== 0 || records.length > 0 || !back) return;
          back = false;
          handle.seek(1);
        },
      });
      await reader.has(0, 3);
      reader.handles.get(0)!.wake();
      expect((await reader.has(0, 5)).map(text)).toEqual(['0', '1', '2', '1', '2']);
    });

    test('`wake` has no effect after the signal aborts', async () => {
      const reader = await member(log());
      await eventually('partition 0 is assigned', () => reader.handles.has(0), JOIN_WITHIN_MS);
      const handle = reader.handles.get(0)!;
      await reader.subscription.close();
      expect(handle.signal.aborted).toBe(true);
      handle.wake();
      await log().positions(topic(), 'group');
      expect(reader.batches).toEqual([]);
    });

    test('closing aborts the signals, waits for the running `handle`, and closes each consumer once', async () => {
      await append([{ ...record('x'), partition: 0 }]);
      let release = (): void => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const reader = await member(log(), { before: () => held });
      await eventually('handle is running', () => reader.underWay > 0);
      const closing = reader.subscription.close();
      await eventually('the signal aborts', () => reader.handles.get(0)!.signal.aborted);
      expect(reader.closed).not.toContain(0);
      release();
      await closing;
      expect(reader.closed.toSorted()).toEqual([...reader.handles.keys()].toSorted());
      expect(reader.delivered.get(0)!.map(text)).toEqual(['x']);
    });

    test(
      'a member that closes does not wait for a member whose `handle` is still running',
      async () => {
        await append(Array.from({ length: log().partitionCount }, (_, partition) => ({ ...record('x'), partition })));
        let release = (): void => {};
        const held = new Promise<void>((resolve) => {
          release = resolve;
        });
        const leaving = await member(log());
        await eventually('the first member has joined', () => leaving.subscription.joined(), JOIN_WITHIN_MS);
        const slow = await member(await another(), { before: () => held });
        await eventually('the second member is handling a record', () => slow.underWay > 0, JOIN_WITHIN_MS);
        await eventually(
          'both members have joined',
          () => leaving.subscription.joined() && slow.subscription.joined(),
          JOIN_WITHIN_MS,
        );
        const third = await member(await another());
        await eventually(
          'a partition of the slow member is revoked, or the third member has joined',
          () => [...slow.handles.values()].some(({ signal }) => signal.aborted) || third.subscription.joined(),
          JOIN_WITHIN_MS,
        );
        // Gives the first member time to release its partitions and to wait for the slow member.
        for (let turn = 0; turn < 50; turn++) await log().positions(topic(), 'group');
        let closed = false;
        const closing = leaving.subscription.close().then(() => {
          closed = true;
        });
        // If `close` waited for the slow member, it would last until the rebalance timeout of a minute.
        await eventually('the first member has closed', () => closed, 45_000).finally(release);
        await closing;
        expect(leaving.subscription.joined()).toBe(false);
        await eventually(
          'the other members continue',
          () => slow.subscription.joined() && third.subscription.joined(),
          JOIN_WITHIN_MS,
        );
      },
      JOINING_TEST_MS,
    );

    test(
      'two members share the partitions; each continues at the commit of the other, and no partition has two owners',
      async () => {
        const partitions = log().partitionCount;
        const owners = new Map<number, Set<object>>();
        const twice: number[] = [];
        const watch = (who: object): MemberOptions => ({
          commitEach: true,
          opening({ partition }) {
            const now = owners.get(partition) ?? new Set();
            if (now.size > 0 && !now.has(who)) twice.push(partition);
            owners.set(partition, now.add(who));
          },
          closing: ({ partition }) => void owners.get(partition)?.delete(who),
        });
        const fill = (value: string) =>
          append(Array.from({ length: partitions }, (_, partition) => ({ ...record(value), partition })));
        await fill('1');
        const one = await member(log(), watch({}));
        await eventually('the first member has all partitions', () => one.handles.size === partitions, JOIN_WITHIN_MS);
        const two = await member(await another(), watch({}));
        await eventually('the second member has some partitions', () => two.handles.size > 0, JOIN_WITHIN_MS);
        await fill('2');
        await eventually('all records are handled', () => one.total() + two.total() >= 2 * partitions, JOIN_WITHIN_MS);
        await two.subscription.close();
        await fill('3');
        await eventually(
          'the first member has all partitions again',
          () => one.total() + two.total() >= 3 * partitions,
          JOIN_WITHIN_MS,
        );
        expect(twice).toEqual([]);
        for (let partition = 0; partition < partitions; partition++) {
          const all = [...(one.delivered.get(partition) ?? []), ...(two.delivered.get(partition) ?? [])];
          expect(all.map(({ offset }) => offset).toSorted()).toEqual([0, 1, 2]);
        }
        const lost = await two.handles
          .get([...two.handles.keys()][0]!)!
          .commit({ offset: 0, metadata: '' })
          .then(
            () => undefined,
            (error: unknown) => error,
          );
        expect(isDependencyError(lost, 'partition_lost')).toBe(true);
      },
      JOINING_TEST_MS,
    );
  });
}

/** The partitions for which `onError` was called with this message. Other errors, such as late heartbeats, are left out. */
const partitionsOfError = ({ errors }: Member, message: string) =>
  errors.filter(({ error }) => (error as Error).message === message).map(({ partition }) => partition);
