import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AppendOutcome, EventLog } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { localProblem, startLocal, upLocal } from '@weir/testkit/live-local';
import { APPEND_DEADLINE_MS } from '../../src/kafka/kafka-event-log.ts';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

const problem = localProblem('kafka');
const describeLocal = problem === undefined ? describe : describe.skip;
const WRITERS = 32;

describeLocal(`appends while a local broker fails${problem === undefined ? '' : `: ${problem}`}`, () => {
  let broker: Awaited<ReturnType<typeof startLocal>>;
  let log: EventLog;
  const pid = () => Number(readFileSync(join(broker.dir, 'kafka/pid'), 'utf8'));

  beforeAll(async () => {
    broker = await startLocal('kafka');
    log = await openKafkaFixtureLog(broker.address, 'faults.', 2, { appendDeadlineMs: APPEND_DEADLINE_MS });
  });
  afterAll(async () => {
    await log.close();
    await broker.close();
  });

  test('SIGSTOP for 8 s: stored values are in the log once, refused ones never, unknown ones at most once', async () => {
    const load = startLoad(log, 'topic.0');
    await eventually('a load', () => load.count('stored') > 2_000);
    process.kill(pid(), 'SIGSTOP');
    await pause(8_000);
    process.kill(pid(), 'SIGCONT');
    const backMs = await load.untilStoredAgain();
    await eventually('the load goes on', () => load.storedAfterMark() > 2_000);
    await load.stop();
    console.info('SIGSTOP', load.summary(), { backMs });
    await audit(log, 'topic.0', load.outcomes);
  });

  test('kill -9 and a restart: stored values are in the log once, refused ones never, unknown ones at most once', async () => {
    const load = startLoad(log, 'topic.1');
    await eventually('a load', () => load.count('stored') > 2_000);
    process.kill(pid(), 'SIGKILL');
    await upLocal('kafka', broker.dir);
    const backMs = await load.untilStoredAgain();
    await eventually('the load goes on', () => load.storedAfterMark() > 2_000);
    await load.stop();
    console.info('SIGKILL', load.summary(), { backMs });
    await audit(log, 'topic.1', load.outcomes);
  });
});

/** Starts writers that append one unique value after another. `outcomes` contains the outcome of each value. */
function startLoad(log: EventLog, topic: string) {
  const outcomes = new Map<string, AppendOutcome>();
  let next = 0;
  let slowest = 0;
  let stopped = false;
  let mark = Number.POSITIVE_INFINITY;
  let storedSinceMark = 0;
  const count = (status: AppendOutcome['status']) =>
    [...outcomes.values()].filter((one) => one.status === status).length;

  async function write(): Promise<void> {
    while (!stopped) {
      const value = `value ${next++}`;
      const from = Date.now();
      const [outcome] = await log.append(topic, [{ key: value, value: Buffer.from(value) }]);
      slowest = Math.max(slowest, Date.now() - from);
      outcomes.set(value, outcome!);
      if (from >= mark && outcome?.status === 'stored') storedSinceMark += 1;
    }
  }
  const writers = Array.from({ length: WRITERS }, write);

  return {
    outcomes,
    count,
    storedAfterMark: () => storedSinceMark,
    /** Waits until an append that begins after this call has stored a record. Resolves with the duration in milliseconds. */
    async untilStoredAgain(): Promise<number> {
      mark = Date.now();
      await eventually('stored again', () => storedSinceMark > 0);
      return Date.now() - mark;
    },
    summary: () => ({ stored: count('stored'), refused: count('refused'), unknown: count('unknown'), slowest }),
    async stop(): Promise<void> {
      stopped = true;
      await Promise.all(writers);
    },
  };
}

/** Reads the whole topic and compares it with the outcome that the append of each value returned. */
async function audit(log: EventLog, topic: string, outcomes: ReadonlyMap<string, AppendOutcome>): Promise<void> {
  /** The places of each value in the topic. A broker that has just failed can deliver records to the group again, so a place counts once. */
  const places = new Map<string, Set<string>>();
  const read = new Set<string>();
  const subscription = await log.consume({
    topic,
    group: 'audit',
    onError: () => undefined,
    open: async ({ partition }) => ({
      async handle(records) {
        for (const { offset, value } of records) {
          const text = Buffer.from(value).toString();
          const place = `${partition}/${offset}`;
          places.set(text, (places.get(text) ?? new Set()).add(place));
          read.add(place);
        }
      },
      close: async () => undefined,
    }),
  });
  const total = (await log.positions(topic, 'audit')).reduce((sum, { end }) => sum + end, 0);
  await eventually('all is read', () => read.size >= total);
  await subscription.close();
  const wrong: string[] = [];
  for (const [value, outcome] of outcomes) {
    const found = places.get(value)?.size ?? 0;
    const right =
      outcome.status === 'stored'
        ? found === 1 && places.get(value)?.has(`${outcome.partition}/${outcome.offset}`)
        : found <= (outcome.status === 'unknown' ? 1 : 0);
    if (!right) wrong.push(`${value}: ${outcome.status}, found ${found} times`);
  }
  expect(wrong).toEqual([]);
  expect([...places.keys()].filter((value) => !outcomes.has(value))).toEqual([]);
}
