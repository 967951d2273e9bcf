import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { AppendRecord, EventLog, Subscription } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { consumeContract } from './event-log-consume.contract.ts';
import { type Member, type MemberOptions, record, startMember, text } from './event-log-member.ts';
import { offsetsContract } from './event-log-offsets.contract.ts';

export interface EventLogFixture {
  /** The log under test. It has at least two partitions. */
  readonly log: EventLog;
  /** Another client of the log if the adapter allows one, otherwise the same log. The fixture closes it. */
  another(): Promise<EventLog>;
  /** Closes all clients of the log and opens it again. */
  reopen(): Promise<EventLog>;
  /** A size in bytes. The log stores one record of this size, but refuses a call with three such records for one partition. */
  readonly tooManyBytes: number;
  /** Creates a new topic or table name. */
  newTopic(): Promise<string>;
  newTable(): Promise<string>;
  /**
   * Starts a process that appends to partition 0 until it is killed: many records at a time, with the values '0', '1', … It prints
   * `offset value` for each acknowledged record. If only one process may open the log, the fixture closes it first; call
   * `reopen` when the process has ended.
   */
  spawnWriter(topic: string): Promise<ChildProcess>;
  close(): Promise<void>;
}

/** The tests that every implementation of the event log passes. They use only what the port promises. */
export function eventLogContract(name: string, openFixture: () => Promise<EventLogFixture>): void {
  describe(`${name} fulfils the event log's contract`, () => {
    let topic: string;
    const subscriptions: Subscription[] = [];

    const fixture = useOpened(openFixture);
    beforeEach(async () => {
      topic = await fixture.newTopic();
    });
    afterEach(closeMembers);

    async function closeMembers(): Promise<void> {
      await Promise.all(subscriptions.splice(0).map((subscription) => subscription.close()));
    }

    async function append(records: readonly AppendRecord[]): Promise<{ partition: number; offset: number }[]> {
      return stored(await fixture.log.append(topic, records));
    }

    async function member(log: EventLog, options: MemberOptions = {}): Promise<Member> {
      const started = await startMember(log, topic, options);
      subscriptions.push(started.subscription);
      return started;
    }

    describe('append', () => {
      test('records with the same key go to the same partition, in order, with offsets from 0 and without gaps', async () => {
        const first = await append([record('a1', 'a'), record('b1', 'b'), record('a2', 'a')]);
        const second = await append([record('a3', 'a')]);
        const ofA = [first[0]!, first[2]!, second[0]!];
        expect(new Set(ofA.map(({ partition }) => partition)).size).toBe(1);
        const partition = ofA[0]!.partition;
        const before = first[1]!.partition === partition ? 1 : 0;
        expect(ofA.map(({ offset }) => offset)).toEqual([0, 1 + before, 2 + before]);
      });

      test('an explicit partition takes precedence over the key', async () => {
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

      test('an append of no records resolves with no outcomes', async () => {
        expect(await fixture.log.append(topic, [])).toEqual([]);
      });

      test("concurrent calls: each record has its own offset, without gaps, and a call's records are next to each other", async () => {
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

      test('after a record that is not stored, no later record of the call is stored in the same partition', async () => {
        const big = { partition: 0, value: Buffer.alloc(fixture.tooManyBytes) };
        const small = { ...record('after'), partition: 0 };
        const outcomes = await fixture.log.append(topic, [
          { ...record('before'), partition: 0 },
          big,
          big,
          { ...record('elsewhere'), partition: 1 },
          big,
          small,
        ]);
        expect(outcomes[3]).toMatchObject({ status: 'stored' });
        const ofZero = outcomes.filter((_, i) => i !== 3).map(({ status }) => status === 'stored');
        const stored = ofZero.indexOf(false);
        expect(stored).toBeGreaterThanOrEqual(0);
        expect(ofZero).toEqual(ofZero.map((_, i) => i < stored));
        expect(await append([small])).toMatchObject([{ offset: stored }]);
      });

      test('value and headers are returned as they were appended, with the time of the append', async () => {
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
      test('a log that is opened again has the same ID and continues at the next offset', async () => {
        const { logId, partitionCount } = fixture.log;
        await append([0, 1, 2].map((n) => ({ ...record(`${n}`), partition: 1 })));
        const again = await fixture.reopen();
        expect([again.logId, again.partitionCount]).toEqual([logId, partitionCount]);
        expect(await append([{ ...record('3'), partition: 1 }])).toMatchObject([{ partition: 1, offset: 3 }]);
        const reader = await member(again);
        expect((await reader.has(1, 4)).map(text)).toEqual(['0', '1', '2', '3']);
      });

      test('after a writing process is killed with SIGKILL, the log has every acknowledged record at its offset', async () => {
        const acknowledged = new Map<number, string>();
        const child = await fixture.spawnWriter(topic);
        const lines = createInterface({ input: child.stdout! });
        lines.on('line', (line) => {
          const [offset = '', value = ''] = line.split(' ');
          acknowledged.set(Number(offset), value);
        });
        const ended = new Promise((resolve) => lines.once('close', resolve));
        await eventually('2,000 records are acknowledged', () => acknowledged.size >= 2_000, 120_000);
        child.kill('SIGKILL');
        await ended;
        const log = await fixture.reopen();
        const [position] = await log.positions(topic, 'unused');
        expect(position!.end).toBeGreaterThanOrEqual(acknowledged.size);
        const reader = await member(log);
        const records = await reader.has(0, position!.end);
        expect(records.map(({ offset }) => offset)).toEqual(Array.from({ length: position!.end }, (_, i) => i));
        for (const [offset, value] of acknowledged) expect(text(records[offset]!)).toBe(value);
      });
    });

    const context = {
      log: () => fixture.log,
      another: () => fixture.another(),
      reopen: () => fixture.reopen(),
      topic: () => topic,
      append,
      member,
      closeMembers,
    };
    consumeContract(context);
    offsetsContract(context);

    describe('read', () => {
      const texts = async (from: number, bytesMax: number) =>
        (await fixture.log.read(topic, 0, from, bytesMax)).map(text);

      test('returns records from an offset on, without a group and without a commit', async () => {
        await append([0, 1, 2].map((n) => ({ ...record(`${n}`), headers: { n: `${n}` }, partition: 0 })));
        await append([{ ...record('elsewhere'), partition: 1 }]);
        const records = await fixture.log.read(topic, 0, 1, 1024);
        expect(records.map(({ offset, headers }) => [offset, headers.n])).toEqual([
          [1, '1'],
          [2, '2'],
        ]);
        expect(records.map(text)).toEqual(['1', '2']);
        expect(await texts(0, 1024)).toEqual(['0', '1', '2']);
        expect((await fixture.log.positions(topic, 'group'))[0]).toMatchObject({ committed: undefined });
      });

      test('returns no records at the end, and new ones after an append', async () => {
        expect(await texts(0, 1024)).toEqual([]);
        await append([{ ...record('0'), partition: 0 }]);
        expect(await texts(1, 1024)).toEqual([]);
        expect(await texts(1000, 1024)).toEqual([]);
        await append([{ ...record('1'), partition: 0 }]);
        expect(await texts(1, 1024)).toEqual(['1']);
      });

      test('respects the limit of bytes, but returns at least one record', async () => {
        for (let n = 0; n < 10; n++) await append([{ ...record(`${n}`.repeat(1_000)), partition: 0 }]);
        expect((await texts(0, 1))[0]).toBe('0'.repeat(1_000));
        const limited = await texts(0, 3_500);
        expect(limited.length).toBeGreaterThanOrEqual(1);
        expect(limited.length).toBeLessThanOrEqual(4);
        const all: string[] = [];
        while (all.length < 10) all.push(...(await texts(all.length, 3_500)));
        expect(all).toEqual(Array.from({ length: 10 }, (_, n) => `${n}`.repeat(1_000)));
      });
    });

    describe('tables', () => {
      test('puts, replacements and removals are reported in order, and the rows remain after reopening', async () => {
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

      test('every handle reports concurrent puts in the same order', async () => {
        const name = await fixture.newTable();
        const one = await fixture.log.openTable(name);
        const two = await (await fixture.another()).openTable(name);
        const seen: [string[], string[]] = [[], []];
        one.onChange((_, value) => seen[0].push(value!));
        two.onChange((_, value) => seen[1].push(value!));
        await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? one : two).put(`k${i % 5}`, `${i}`)));
        await eventually('both handles have reported all puts', () => seen[0].length === 20 && seen[1].length === 20);
        expect(seen[0]).toEqual(seen[1]);
        expect([...one.entries()]).toEqual([...two.entries()]);
        await Promise.all([one.close(), two.close()]);
      });

      test('`catchUp` applies the changes of other handles', async () => {
        const name = await fixture.newTable();
        const one = await fixture.log.openTable(name);
        const two = await (await fixture.another()).openTable(name);
        for (const value of ['1', '2', '3']) {
          await one.put('k', value);
          await two.catchUp();
          expect(two.entries().get('k')).toBe(value);
        }
        await Promise.all([one.close(), two.close()]);
      });

      test('two tables have separate rows', async () => {
        const one = await fixture.log.openTable(await fixture.newTable());
        const two = await fixture.log.openTable(await fixture.newTable());
        await one.put('k', 'v');
        expect(two.entries().size).toBe(0);
        await Promise.all([one.close(), two.close()]);
      });
    });

    test('`ping` resolves while the log accepts records', async () => {
      await expect(fixture.log.ping()).resolves.toBeUndefined();
    });
  });
}

function stored(outcomes: Awaited<ReturnType<EventLog['append']>>): { partition: number; offset: number }[] {
  return outcomes.map((outcome) => {
    if (outcome.status !== 'stored') throw new Error(`${outcome.status}: ${outcome.reason}`);
    return outcome;
  });
}
