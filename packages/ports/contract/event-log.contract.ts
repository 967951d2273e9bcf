import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { isDependencyError } from '@weir/domain/errors';
import type { AppendRecord, Commit, EventLog, StoredRecord, Subscription } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { type Member, type MemberOptions, startMember } from './event-log-member.ts';

export interface EventLogFixture {
  /** The log, at least two partitions. */
  readonly log: EventLog;
  /** A member of another process or client where the adapter allows it, else the same log. The fixture closes it. */
  another(): Promise<EventLog>;
  /** Closes every handle and opens the same log again. */
  reopen(): Promise<EventLog>;
  /** A topic, a table that nobody used before. */
  newTopic(): Promise<string>;
  newTable(): Promise<string>;
  /**
   * A process that appends without end to partition 0, many at a time, values '0', '1', … and prints `offset value` for each
   * acknowledged one. Where only one process may hold the log, it is closed first: `reopen` after the process has died.
   */
  spawnWriter(topic: string): Promise<ChildProcess>;
  close(): Promise<void>;
}

/** What every event log keeps; asks for nothing but the port's promises. */
export function eventLogContract(name: string, openFixture: () => Promise<EventLogFixture>): void {
  describe(`${name} keeps the event log's contract`, () => {
    let fixture: EventLogFixture;
    let topic: string;
    const subscriptions: Subscription[] = [];

    beforeAll(async () => {
      fixture = await openFixture();
    });
    beforeEach(async () => {
      topic = await fixture.newTopic();
    });
    afterEach(async () => {
      await Promise.all(subscriptions.splice(0).map((subscription) => subscription.close()));
    });
    afterAll(() => fixture.close());

    async function append(records: readonly AppendRecord[]): Promise<{ partition: number; offset: number }[]> {
      return stored(await fixture.log.append(topic, records));
    }

    async function member(log: EventLog, options: MemberOptions = {}): Promise<Member> {
      const started = await startMember(log, topic, options);
      subscriptions.push(started.subscription);
      return started;
    }

    describe('append', () => {
      test('the same key goes to the same partition, in order, on dense offsets from 0', async () => {
        const first = await append([record('a1', 'a'), record('b1', 'b'), record('a2', 'a')]);
        const second = await append([record('a3', 'a')]);
        const ofA = [first[0]!, first[2]!, second[0]!];
        expect(new Set(ofA.map(({ partition }) => partition)).size).toBe(1);
        const partition = ofA[0]!.partition;
        const before = first[1]!.partition === partition ? 1 : 0;
        expect(ofA.map(({ offset }) => offset)).toEqual([0, 1 + before, 2 + before]);
      });

      test('an explicit partition wins over the key', async () => {
        expect(
          await append([
            { ...record('x', 'a'), partition: 1 },
            { ...record('y', 'a'), partition: 0 },
          ]),
        ).toEqual([
          { status: 'stored', partition: 1, offset: 0 },
          { status: 'stored', partition: 0, offset: 0 },
        ]);
      });

      test('nothing to append resolves with nothing', async () => {
        expect(await fixture.log.append(topic, [])).toEqual([]);
      });

      test("concurrent calls: each has its own offset, none is left out, a call's records are side by side", async () => {
        const calls = await Promise.all(
          Array.from({ length: 100 }, (_, i) =>
            append([0, 1, 2].map((n) => ({ ...record(`${i}.${n}`), partition: 0 }))),
          ),
        );
        for (const [one, two, three] of calls) {
          expect([two!.offset - one!.offset, three!.offset - two!.offset]).toEqual([1, 1]);
        }
        const offsets = calls.flat().map(({ offset }) => offset);
        expect(offsets.sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, i) => i));
      });

      test('value, headers and time come back as they went in', async () => {
        const sent: AppendRecord[] = [
          { partition: 0, value: new Uint8Array(0) },
          { partition: 0, value: Buffer.from([0, 255, 10, 13]), headers: { o: '12', v: '1' } },
          { partition: 0, value: Buffer.alloc(900_000, 'z'), headers: { empty: '' } },
        ];
        const from = Date.now() - 60_000;
        await append(sent);
        const reader = await member(fixture.log);
        const records = await reader.has(0, 3);
        expect(records.map(({ offset }) => offset)).toEqual([0, 1, 2]);
        expect(records.map(({ value }) => Buffer.from(value).equals(Buffer.alloc(0)))).toEqual([true, false, false]);
        expect(Buffer.from(records[1]!.value)).toEqual(Buffer.from([0, 255, 10, 13]));
        expect(Buffer.from(records[2]!.value).equals(Buffer.alloc(900_000, 'z'))).toBe(true);
        expect(records.map(({ headers }) => ({ ...headers }))).toEqual([{}, { o: '12', v: '1' }, { empty: '' }]);
        for (const { appendedAt } of records) expect(appendedAt).toBeGreaterThan(from);
      });
    });

    describe('durability', () => {
      test('a log that is opened again is the same log and goes on where it stood', async () => {
        const { logId, partitionCount } = fixture.log;
        await append([0, 1, 2].map((n) => ({ ...record(`${n}`), partition: 1 })));
        const again = await fixture.reopen();
        expect([again.logId, again.partitionCount]).toEqual([logId, partitionCount]);
        expect(await append([{ ...record('3'), partition: 1 }])).toMatchObject([{ partition: 1, offset: 3 }]);
        const reader = await member(again);
        expect((await reader.has(1, 4)).map(text)).toEqual(['0', '1', '2', '3']);
      });

      test('kill -9 of a writing process: every acknowledged record is there, where it was said to be', async () => {
        const acknowledged = new Map<number, string>();
        const child = await fixture.spawnWriter(topic);
        const lines = createInterface({ input: child.stdout! });
        lines.on('line', (line) => {
          const [offset = '', value = ''] = line.split(' ');
          acknowledged.set(Number(offset), value);
        });
        const ended = new Promise((resolve) => lines.once('close', resolve));
        await eventually('2,000 acknowledged records', () => acknowledged.size >= 2_000, 40_000);
        child.kill('SIGKILL');
        await ended;
        const log = await fixture.reopen();
        const [position] = await log.positions(topic, 'nobody');
        expect(position!.end).toBeGreaterThanOrEqual(acknowledged.size);
        const reader = await member(log);
        const records = await reader.has(0, position!.end);
        expect(records.map(({ offset }) => offset)).toEqual(Array.from({ length: position!.end }, (_, i) => i));
        for (const [offset, value] of acknowledged) expect(text(records[offset]!)).toBe(value);
      }, 90_000);
    });

    describe('consume', () => {
      test('begins at the earliest record and goes on with what is appended later', async () => {
        await append([{ ...record('old'), partition: 0 }]);
        const reader = await member(fixture.log);
        await reader.has(0, 1);
        await append([{ ...record('new'), partition: 0 }]);
        expect((await reader.has(0, 2)).map(text)).toEqual(['old', 'new']);
        expect(reader.handles.get(0)).toMatchObject({ topic, partition: 0, committed: undefined });
      });

      test('a batch keeps to its limits of records and bytes, one record at least', async () => {
        await append(Array.from({ length: 20 }, (_, n) => ({ ...record(`${n}`.padStart(10, '0')), partition: 0 })));
        const few = await member(fixture.log, { group: 'few', batchRecordsMax: 7 });
        await few.has(0, 20);
        expect(Math.max(...few.batches.map(({ length }) => length))).toBeLessThanOrEqual(7);
        const small = await member(fixture.log, { group: 'small', batchBytesMax: 35 });
        await small.has(0, 20);
        expect(Math.max(...small.batches.map(({ length }) => length))).toBeLessThanOrEqual(3);
        const tiny = await member(fixture.log, { group: 'tiny', batchBytesMax: 1 });
        expect((await tiny.has(0, 20)).map(({ offset }) => offset)).toEqual(Array.from({ length: 20 }, (_, i) => i));
      });

      test('a commit with its metadata is found by the next owner, also of a log opened again, and by `positions`', async () => {
        await append([0, 1, 2, 3].map((n) => ({ ...record(`${n}`), partition: 0 })));
        const reader = await member(fixture.log);
        await reader.has(0, 4);
        const commit: Commit = { offset: 3, metadata: '{"plan":"2-3","ü":1}' };
        await reader.handles.get(0)!.commit(commit);
        expect((await fixture.log.positions(topic, 'group'))[0]).toEqual({
          partition: 0,
          first: 0,
          end: 4,
          committed: 3,
        });
        expect((await fixture.log.positions(topic, 'other'))[0]).toMatchObject({ committed: undefined });
        await closeAll(subscriptions);
        const again = await fixture.reopen();
        const next = await member(again);
        expect((await next.has(0, 1)).map(text)).toEqual(['3']);
        expect(next.handles.get(0)!.committed).toEqual(commit);
      });

      test('what `handle` rejects is delivered again, to the same consumer, and the failure is told', async () => {
        await append([0, 1, 2].map((n) => ({ ...record(`${n}`), partition: 0 })));
        let failures = 2;
        const reader = await member(fixture.log, {
          before() {
            if (failures-- > 0) throw new Error('not yet');
          },
        });
        expect((await reader.has(0, 3)).map(text)).toEqual(['0', '1', '2']);
        expect(reader.errors.map(({ error, partition }) => [(error as Error).message, partition])).toEqual([
          ['not yet', 0],
          ['not yet', 0],
        ]);
        expect(reader.opened).toBe(new Set(reader.handles.keys()).size);
      });

      test('an `open` that rejects is tried again', async () => {
        await append([{ ...record('x'), partition: 0 }]);
        let failures = 1;
        const reader = await member(fixture.log, {
          opening(handle) {
            if (handle.partition === 0 && failures-- > 0) throw new Error('not open yet');
          },
        });
        await reader.has(0, 1);
        expect(reader.errors.map(({ partition }) => partition)).toEqual([0]);
      });

      test('`seek` in `open` and in `handle` decides where the next records begin', async () => {
        await append([0, 1, 2, 3].map((n) => ({ ...record(`${n}`), partition: 0 })));
        let back = true;
        const reader = await member(fixture.log, {
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
        const reader = await member(fixture.log, { before: () => held });
        await eventually('handle is under way', () => reader.underWay > 0);
        const closing = reader.subscription.close();
        await eventually('the signal aborts', () => reader.handles.get(0)!.signal.aborted);
        expect(reader.closed).not.toContain(0);
        release();
        await closing;
        expect(reader.closed.toSorted()).toEqual([...reader.handles.keys()].toSorted());
        expect(reader.delivered.get(0)!.map(text)).toEqual(['x']);
      });

      test('two members share the partitions; each goes on where the other committed, and no partition has two owners', async () => {
        const partitions = fixture.log.partitionCount;
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
        const one = await member(fixture.log, watch({}));
        await eventually('the first member has them all', () => one.handles.size === partitions);
        const two = await member(await fixture.another(), watch({}));
        await eventually('the second member has some', () => two.handles.size > 0);
        await fill('2');
        await eventually('all are handled', () => one.total() + two.total() >= 2 * partitions);
        await two.subscription.close();
        await fill('3');
        await eventually('the first has them all again', () => one.total() + two.total() >= 3 * partitions);
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
      });
    });

    test('`offsetsAtTime` finds the first record at or after a time, or the end', async () => {
      await append([{ ...record('0'), partition: 0 }]);
      const reader = await member(fixture.log);
      const [first] = await reader.has(0, 1);
      await eventually('the clock has moved on', () => Date.now() > first!.appendedAt + 5);
      await append([{ ...record('1'), partition: 0 }]);
      const [, second] = await reader.has(0, 2);
      const at = async (timeMs: number) => (await fixture.log.offsetsAtTime(topic, timeMs))[0];
      expect(await at(0)).toBe(0);
      expect(await at(first!.appendedAt)).toBe(0);
      expect(await at(first!.appendedAt + 1)).toBe(1);
      expect(await at(second!.appendedAt)).toBe(1);
      expect(await at(second!.appendedAt + 3600_000)).toBe(2);
      expect((await fixture.log.offsetsAtTime(topic, 0)).length).toBe(fixture.log.partitionCount);
    });

    describe('tables', () => {
      test('values are put, replaced, removed, told of in order, and there again after opening', async () => {
        const name = await fixture.newTable();
        const table = await fixture.log.openTable(name);
        const changes: (readonly [string, string | undefined])[] = [];
        table.onChange((key, value) => changes.push([key, value]));
        await table.put('a', '1');
        await table.put('b/c', '{"ü":" 2"}');
        await table.put('a', '3');
        expect(changes.at(-1)).toEqual(['a', '3']);
        await table.put('gone', 'x');
        await table.put('gone', undefined);
        expect([...table.entries()]).toEqual([
          ['b/c', '{"ü":" 2"}'],
          ['a', '3'],
        ]);
        expect(changes).toEqual([
          ['a', '1'],
          ['b/c', '{"ü":" 2"}'],
          ['a', '3'],
          ['gone', 'x'],
          ['gone', undefined],
        ]);
        await table.close();
        const again = await (await fixture.reopen()).openTable(name);
        expect([...again.entries()]).toEqual([
          ['b/c', '{"ü":" 2"}'],
          ['a', '3'],
        ]);
        await again.close();
      });

      test('every handle sees concurrent puts in one order, within a second', async () => {
        const name = await fixture.newTable();
        const one = await fixture.log.openTable(name);
        const two = await (await fixture.another()).openTable(name);
        const seen: [string[], string[]] = [[], []];
        one.onChange((_, value) => seen[0].push(value!));
        two.onChange((_, value) => seen[1].push(value!));
        await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? one : two).put(`k${i % 5}`, `${i}`)));
        await eventually('both have seen all', () => seen[0].length === 20 && seen[1].length === 20);
        expect(seen[0]).toEqual(seen[1]);
        expect([...one.entries()]).toEqual([...two.entries()]);
        await Promise.all([one.close(), two.close()]);
      });

      test('two tables are apart', async () => {
        const one = await fixture.log.openTable(await fixture.newTable());
        const two = await fixture.log.openTable(await fixture.newTable());
        await one.put('k', 'v');
        expect(two.entries().size).toBe(0);
        await Promise.all([one.close(), two.close()]);
      });
    });

    test('`ping` resolves while the log can take records', async () => {
      await expect(fixture.log.ping()).resolves.toBeUndefined();
    });
  });
}

function record(value: string, key?: string): AppendRecord {
  return { value: Buffer.from(value), ...(key === undefined ? {} : { key }) };
}

function stored(outcomes: Awaited<ReturnType<EventLog['append']>>): { partition: number; offset: number }[] {
  return outcomes.map((outcome) => {
    if (outcome.status !== 'stored') throw new Error(`${outcome.status}: ${outcome.reason}`);
    return outcome;
  });
}

function text(stored: StoredRecord): string {
  return Buffer.from(stored.value).toString();
}

async function closeAll(subscriptions: Subscription[]): Promise<void> {
  await Promise.all(subscriptions.splice(0).map((subscription) => subscription.close()));
}
