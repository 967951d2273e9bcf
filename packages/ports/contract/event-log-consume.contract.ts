import { isDependencyError } from '@weir/domain/errors';
import type { AppendRecord, Commit, EventLog } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { JOIN_WITHIN_MS, type Member, type MemberOptions, record, text } from './event-log-member.ts';

/** What the event log's suite hands on to the part of it that is about consuming. */
export interface ConsumeContext {
  log(): EventLog;
  another(): Promise<EventLog>;
  reopen(): Promise<EventLog>;
  /** This test's own. */
  topic(): string;
  append(records: readonly AppendRecord[]): Promise<unknown>;
  member(log: EventLog, options?: MemberOptions): Promise<Member>;
  closeMembers(): Promise<void>;
}

const JOINING_TEST_MS = 300_000;

/** Called within the suite of `event-log.contract.ts`. */
export function consumeContract({ log, another, reopen, topic, append, member, closeMembers }: ConsumeContext): void {
  describe('consume', () => {
    test('begins at the earliest record and goes on with what is appended later', async () => {
      await append([{ ...record('old'), partition: 0 }]);
      const reader = await member(log());
      await reader.has(0, 1);
      await append([{ ...record('new'), partition: 0 }]);
      expect((await reader.has(0, 2)).map(text)).toEqual(['old', 'new']);
      expect(reader.handles.get(0)).toMatchObject({ topic: topic(), partition: 0, committed: undefined });
    });

    test('a batch keeps to its limits of records and bytes, one record at least', async () => {
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

    test('a commit with its metadata is found by the next owner, also of a log opened again, and by `positions`', async () => {
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
      });
      expect((await log().positions(topic(), 'other'))[0]).toMatchObject({ committed: undefined });
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

    test('what `handle` rejects is delivered again, to the same consumer, and the failure is told', async () => {
      await append([0, 1, 2].map((n) => ({ ...record(`${n}`), partition: 0 })));
      let failures = 2;
      const reader = await member(log(), {
        before() {
          if (failures-- > 0) throw new Error('not yet');
        },
      });
      expect((await reader.has(0, 3)).map(text)).toEqual(['0', '1', '2']);
      expect(toldOf(reader, 'not yet')).toEqual([0, 0]);
      expect(reader.opened).toBe(new Set(reader.handles.keys()).size);
    });

    test('an `open` that rejects is tried again', async () => {
      await append([{ ...record('x'), partition: 0 }]);
      let failures = 1;
      const reader = await member(log(), {
        opening(handle) {
          if (handle.partition === 0 && failures-- > 0) throw new Error('not open yet');
        },
      });
      await reader.has(0, 1);
      expect(toldOf(reader, 'not open yet')).toEqual([0]);
    });

    test('`seek` in `open` and in `handle` decides where the next records begin', async () => {
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

    test('closing lets the `handle` under way end, closes each consumer once, and aborts the signals', async () => {
      await append([{ ...record('x'), partition: 0 }]);
      let release = (): void => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const reader = await member(log(), { before: () => held });
      await eventually('handle is under way', () => reader.underWay > 0);
      const closing = reader.subscription.close();
      await eventually('the signal aborts', () => reader.handles.get(0)!.signal.aborted);
      expect(reader.closed).not.toContain(0);
      release();
      await closing;
      expect(reader.closed.toSorted()).toEqual([...reader.handles.keys()].toSorted());
      expect(reader.delivered.get(0)!.map(text)).toEqual(['x']);
    });

    test(
      'a member that closes does not wait for another one that still holds what it was given',
      async () => {
        await append(Array.from({ length: log().partitionCount }, (_, partition) => ({ ...record('x'), partition })));
        let release = (): void => {};
        const held = new Promise<void>((resolve) => {
          release = resolve;
        });
        const leaving = await member(log());
        await eventually('the first takes part', () => leaving.subscription.joined(), JOIN_WITHIN_MS);
        const slow = await member(await another(), { before: () => held });
        await eventually('a record is held', () => slow.underWay > 0, JOIN_WITHIN_MS);
        await eventually(
          'both take part',
          () => leaving.subscription.joined() && slow.subscription.joined(),
          JOIN_WITHIN_MS,
        );
        const third = await member(await another());
        await eventually(
          'the slow one is to give back, or has',
          () => [...slow.handles.values()].some(({ signal }) => signal.aborted) || third.subscription.joined(),
          JOIN_WITHIN_MS,
        );
        // Some turns, for the first to give back what it has and to wait for the slow one.
        for (let turn = 0; turn < 50; turn++) await log().positions(topic(), 'group');
        let closed = false;
        const closing = leaving.subscription.close().then(() => {
          closed = true;
        });
        // A log that waits does so until it takes the slow one for dead, after a minute.
        await eventually('it has closed', () => closed, 45_000).finally(release);
        await closing;
        expect(leaving.subscription.joined()).toBe(false);
        await eventually(
          'the others go on',
          () => slow.subscription.joined() && third.subscription.joined(),
          JOIN_WITHIN_MS,
        );
      },
      JOINING_TEST_MS,
    );

    test(
      'two members share the partitions; each goes on where the other committed, and no partition has two owners',
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
        await eventually('the first member has them all', () => one.handles.size === partitions, JOIN_WITHIN_MS);
        const two = await member(await another(), watch({}));
        await eventually('the second member has some', () => two.handles.size > 0, JOIN_WITHIN_MS);
        await fill('2');
        await eventually('all are handled', () => one.total() + two.total() >= 2 * partitions, JOIN_WITHIN_MS);
        await two.subscription.close();
        await fill('3');
        await eventually(
          'the first has them all again',
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

/** The partitions that it was told of, of this error of the test's own alone: a heartbeat that is late is told of too. */
const toldOf = ({ errors }: Member, message: string) =>
  errors.filter(({ error }) => (error as Error).message === message).map(({ partition }) => partition);
