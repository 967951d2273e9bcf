import { randomUUID } from 'node:crypto';
import { DependencyError } from '@weir/domain/errors';
import { RECORDS_COLUMNS_VERSION } from '@weir/domain/records/records-columns';
import { type RecordsBatch, TOKEN_KEPT_BLOCKS } from '@weir/ports/analytics';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { assertStored, UNKNOWN_SETTLES_MS } from '../src/insert-batch.ts';
import { type Engine, range, rows, useHarness } from './writer-harness.ts';

const { engine, harness } = useHarness();

/** Wraps the real engine. `answer` decides the result of each insert, and `tokens` collects the token of each insert. */
function answering(answer: (batch: RecordsBatch, tries: number) => Promise<void>) {
  const tokens: string[] = [];
  const analytics: Engine['analytics'] = {
    ...engine.analytics,
    async insertRecords(batch) {
      tokens.push(batch.token);
      await answer(batch, tokens.length);
    },
  };
  return { analytics, tokens };
}

const gone = new DependencyError('analytics_unavailable', 'socket hang up');

describe('after an insert with an unknown result, a refused batch is not divided while that insert may still be running', () => {
  test('the insert arrives after the refusals: every row is stored once', async () => {
    let land: (() => Promise<void>) | undefined;
    let refusing = true;
    const { analytics, tokens } = answering(async (batch, tries) => {
      if (tries === 1) {
        land = () => engine.analytics.insertRecords(batch);
        throw gone;
      }
      if (refusing && batch.lines.length === 6) throw new DependencyError('analytics_refused', 'test');
      await engine.analytics.insertRecords(batch);
    });
    await harness.put(range(0, 6));
    const writer = await harness.start({ analytics });
    await eventually('the batch is refused several times, or divided', () => tokens.length > 3);
    await land?.();
    refusing = false;
    await harness.caughtUp();
    await writer.close();
    expect(await harness.stored()).toEqual(rows(6));
    expect(new Set(tokens).size).toBe(1);
  });

  test('the insert never arrives: after the wait, the batch is divided and the bad row is found', async () => {
    let passed = 0;
    let jumped = 0;
    const clock = () => Date.now() + jumped;
    const monotonicMs = () => passed;
    const { analytics, tokens } = answering(async (batch, tries) => {
      if (tries === 1) throw gone;
      await engine.analytics.insertRecords(batch);
    });
    await harness.put(range(0, 6), { bad: [4] });
    const writer = await harness.start({ analytics, clock, monotonicMs });
    const said = await eventually('refused', () => writer.status()[0]?.lastError?.includes('not divided yet'));
    expect(said).toBe(true);
    // The writer waits by a monotonic clock: setting the system clock forward does not end the wait.
    jumped = 10 * UNKNOWN_SETTLES_MS;
    const tries = tokens.length;
    await eventually('further refusals, or pieces', () => tokens.length > tries + 2);
    expect(new Set(tokens).size).toBe(1);
    passed = UNKNOWN_SETTLES_MS;
    await harness.caughtUp();
    await writer.close();
    expect((await harness.stored()).map(({ outcome, copies }) => [outcome, copies])).toEqual(
      range(0, 6).map((raw) => [raw === 4 ? 'dead' : 'row', 1]),
    );
  });

  test('an insert of the previous owner also counts: a repeated plan is not divided', async () => {
    let held: RecordsBatch | undefined;
    const first = answering(async (batch) => {
      held ??= batch;
      throw gone;
    });
    await harness.put(range(0, 6));
    const before = await harness.start({ analytics: first.analytics });
    await eventually('tried', () => held);
    await before.close();

    let refusing = true;
    const second = answering(async (batch) => {
      if (refusing && batch.lines.length === 6) throw new DependencyError('analytics_refused', 'test');
      await engine.analytics.insertRecords(batch);
    });
    const after = await harness.start({ analytics: second.analytics });
    await eventually('the batch is refused several times, or divided', () => second.tokens.length > 2);
    await engine.analytics.insertRecords(held as RecordsBatch);
    refusing = false;
    await harness.caughtUp();
    await after.close();
    expect(await harness.stored()).toEqual(rows(6));
  });
});

test('an insert is not sent if the commit of its plan took too long, even if the system clock was set back meanwhile', async () => {
  let passed = 0;
  let stepMs = 11_000;
  const monotonicMs = () => {
    passed += stepMs;
    return passed;
  };
  const { analytics, tokens } = answering((batch) => engine.analytics.insertRecords(batch));
  await harness.put(range(0, 6));
  const writer = await harness.start({ analytics, monotonicMs });
  await eventually('the refusal', () => writer.status()[0]?.lastError?.includes('the plan took too long to commit'));
  expect(tokens).toEqual([]);
  stepMs = 0;
  await harness.caughtUp();
  await writer.close();
  expect(await harness.stored()).toEqual(rows(6));
});

describe('docs/decisions/0018: a server that was killed after it stored a token drops the repeated insert, although its rows are missing', () => {
  test.each(['its own attempt', 'an attempt of the previous owner'])(
    '%s: nothing more is written, with an alarm, until the insert is accepted',
    async (whose) => {
      let dropping = true;
      const { analytics, tokens } = answering(async (batch, tries) => {
        if (tries === 1) throw gone;
        if (!dropping) await engine.analytics.insertRecords(batch);
      });
      await harness.put(range(0, 6));
      let writer = await harness.start({ analytics });
      if (whose !== 'its own attempt') {
        await eventually('tried', () => tokens.length > 0);
        await writer.close();
        writer = await harness.start({ analytics });
      }
      const alarm = await eventually('the alarm', () => writer.status()[0]?.alarm);
      expect(alarm).toContain('partition 0: ClickHouse dropped raw offsets 0 to 5 as a repeat, but records ends at -1');
      await harness.put(range(6, 9));
      const tried = tokens.length;
      await eventually('tried again', () => tokens.length > tried + 1);
      expect(new Set(tokens).size).toBe(1);
      dropping = false;
      await harness.caughtUp();
      expect(writer.status()[0]?.alarm).toBeUndefined();
      await writer.close();
      expect(await harness.stored()).toEqual(rows(9));
    },
  );
});

test('the check of records after a success that may have been dropped as a repeat', async () => {
  await harness.put(range(0, 3));
  const { logId } = harness.eventLog;
  const plan = { from: 0, to: 2, version: RECORDS_COLUMNS_VERSION, generation: 0, checksum: '' };
  await expect(assertStored(engine.analytics, { plan, lastLine: 2 }, logId, 0)).rejects.toMatchObject({
    code: 'analytics_damaged',
  });
  const writer = await harness.start();
  await harness.caughtUp();
  await writer.close();
  await assertStored(engine.analytics, { plan, lastLine: 2 }, logId, 0);
});

test('while inserts fail, the delay of the partition grows: otherwise no alert would see that the writer is behind', async () => {
  const metrics = createMetrics();
  const delays: Promise<number>[] = [];
  const readDelay = async (): Promise<number> =>
    (await metrics.getSingleMetric('weir_consume_delay_seconds')?.get())?.values[0]?.value ?? 0;
  const { analytics } = answering(async (batch, tries) => {
    if (tries > 3) return engine.analytics.insertRecords(batch);
    delays.push(readDelay());
    throw gone;
  });
  await harness.put(range(0, 5));
  const writer = await harness.start({ analytics, metrics });
  await harness.caughtUp();
  await writer.close();
  const [first = 0, ...later] = await Promise.all(delays);
  expect(later.map((delay) => delay > first)).toEqual([true, true]);
});

test('the delay of the partition also grows if ClickHouse is not available when a batch begins', async () => {
  const metrics = createMetrics();
  const delays: Promise<number>[] = [];
  const readDelay = async (): Promise<number> =>
    (await metrics.getSingleMetric('weir_consume_delay_seconds')?.get())?.values[0]?.value ?? 0;
  const analytics: Engine['analytics'] = {
    ...engine.analytics,
    async latestBlock() {
      if (delays.length > 2) return engine.analytics.latestBlock();
      delays.push(readDelay());
      throw gone;
    },
  };
  await harness.put(range(0, 5));
  const writer = await harness.start({ analytics, metrics });
  await harness.caughtUp();
  await writer.close();
  const [first = 0, ...later] = await Promise.all(delays);
  expect(later.map((delay) => delay > first)).toEqual([true, true]);
});

describe('an insert is not repeated after so many other inserts that ClickHouse may have forgotten its token', () => {
  /** The real engine, after it has forgotten all tokens: each insert gets a new one. `blocks` other inserts were made meanwhile. */
  const forgetful = (blocks: () => number): Engine['analytics'] => ({
    ...engine.analytics,
    latestBlock: async () => ((await engine.analytics.latestBlock()) ?? 0) + blocks(),
    insertRecords: (batch) => engine.analytics.insertRecords({ ...batch, token: `${batch.token}:${randomUUID()}` }),
  });
  let storedAnswers = 0;

  /** Stores the rows of the first `storedAnswers` inserts, but reports an unknown result. */
  const losingAnswers = (analytics: Engine['analytics']): Engine['analytics'] => ({
    ...analytics,
    async insertRecords(batch) {
      await analytics.insertRecords(batch);
      if (storedAnswers-- > 0) throw gone;
    },
  });

  test('by the next owner of the partition', async () => {
    await harness.put(range(0, 6));
    storedAnswers = 1_000;
    const first = await harness.start({ analytics: losingAnswers(engine.analytics) }, 6);
    await eventually('stored', async () => (await harness.stored()).length === 6);
    await first.close();
    await harness.put(range(6, 9));
    const second = await harness.start({ analytics: forgetful(() => TOKEN_KEPT_BLOCKS) });
    await harness.caughtUp();
    await second.close();
    expect(await harness.stored()).toEqual(rows(9));
  });

  test('by the same owner', async () => {
    await harness.put(range(0, 9));
    storedAnswers = 1;
    let blocks = 0;
    const first = await harness.start({
      analytics: losingAnswers(
        forgetful(() => {
          blocks += TOKEN_KEPT_BLOCKS;
          return blocks;
        }),
      ),
    });
    await harness.caughtUp();
    await first.close();
    expect(await harness.stored()).toEqual(rows(9));
  });

  test('and the failure does not count any longer, also if there are no further rows', async () => {
    await harness.put(range(0, 6));
    storedAnswers = 1;
    let blocks = 0;
    const later = () => {
      blocks += TOKEN_KEPT_BLOCKS;
      return blocks;
    };
    const writer = await harness.start({ analytics: losingAnswers(forgetful(later)) }, 6);
    await harness.caughtUp();
    expect(writer.status()[0]?.lastError).toBeUndefined();
    await writer.close();
    expect(await harness.stored()).toEqual(rows(6));
  });

  test('but the insert is repeated if its rows are not stored', async () => {
    let tries = 0;
    const analytics: Engine['analytics'] = {
      ...engine.analytics,
      latestBlock: async () => tries * TOKEN_KEPT_BLOCKS,
      async insertRecords(batch) {
        if (tries++ === 0) throw gone;
        await engine.analytics.insertRecords(batch);
      },
    };
    await harness.put(range(0, 6));
    const writer = await harness.start({ analytics });
    await harness.caughtUp();
    await writer.close();
    expect(await harness.stored()).toEqual(rows(6));
  });
});

test('each insert into records gets the number of a later block', async () => {
  const before = await engine.analytics.latestBlock();
  await harness.put(range(0, 6));
  const writer = await harness.start({}, 2);
  await harness.caughtUp();
  await writer.close();
  expect(await engine.analytics.latestBlock()).toBe((before ?? Number.NaN) + 3);
});
