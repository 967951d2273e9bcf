import { DependencyError } from '@weir/domain/errors';
import { RECORDS_COLUMNS, RECORDS_COLUMNS_VERSION } from '@weir/domain/records/records-columns';
import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { RecordsBatch } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { createFaultyAnalytics } from '@weir/testkit/faulty-analytics';
import { decodeProgress, encodeProgress } from '../src/plan.ts';
import { refusedRowLetter } from '../src/refused-row-letter.ts';
import type { Writer } from '../src/writer.ts';
import { commitByHand, type Engine, JULY, JUNE, range, rows, useHarness } from './writer-harness.ts';

const { engine, harness } = useHarness();

/** Wraps the real engine and records each inserted batch. */
function recording(): { readonly analytics: Engine['analytics']; readonly batches: RecordsBatch[] } {
  const batches: RecordsBatch[] = [];
  const { analytics } = engine;
  return {
    batches,
    analytics: {
      ...analytics,
      async insertRecords(batch) {
        batches.push(batch);
        await analytics.insertRecords(batch);
      },
    },
  };
}

describe('the writer accepts only the raw offset after the last one', () => {
  test('every outcome is stored once, in batches', async () => {
    const { analytics, batches } = recording();
    await harness.put(range(0, 25));
    const writer = await harness.start({ analytics });
    await harness.caughtUp();
    await writer.close();
    expect(await harness.stored()).toEqual(rows(25));
    const { logId } = harness.eventLog;
    expect(batches.map(({ token }) => token)).toEqual([
      `records:${logId}:0:0-9:${RECORDS_COLUMNS_VERSION}`,
      `records:${logId}:0:10-19:${RECORDS_COLUMNS_VERSION}`,
      `records:${logId}:0:20-24:${RECORDS_COLUMNS_VERSION}`,
    ]);
  });

  test('lower raw offsets (repeats) are skipped', async () => {
    await harness.put([...range(0, 8), ...range(4, 12), ...range(0, 3), ...range(9, 20)]);
    const writer = await harness.start();
    await harness.caughtUp();
    await writer.close();
    expect(await harness.stored()).toEqual(rows(20));
  });

  test('a higher raw offset stops the partition with an alarm; the rows before it are stored', async () => {
    await harness.put([...range(0, 5), ...range(6, 9)]);
    const writer = await harness.start();
    const alarm = await eventually('the alarm', () => writer.status()[0]?.alarm);
    expect(alarm).toContain('expected the outcome of raw offset 5, found that of 6');
    await eventually('five rows', async () => (await harness.stored()).length === 5);
    await writer.close();
    expect(await harness.stored()).toEqual(rows(5));
  });

  test('the writer never starts below the highest raw offset in records', async () => {
    await harness.put(range(0, 10));
    const first = await harness.start();
    await harness.caughtUp();
    await first.close();
    // Simulates a lost commit. The second writer makes other batches, so ClickHouse would not know the tokens of repeated inserts.
    await commitByHand(harness.eventLog, { offset: 0, metadata: '' });
    await harness.put(range(10, 15));
    const second = await harness.start({}, 7);
    await harness.caughtUp();
    await second.close();
    expect(await harness.stored()).toEqual(rows(15));
  });
});

test('one insert stays within one table partition: a batch ends where the month changes', async () => {
  const { analytics, batches } = recording();
  await harness.put(range(0, 3), { receivedAt: JULY - 1 });
  await harness.put(range(3, 6), { receivedAt: JULY });
  const writer = await harness.start({ analytics });
  await harness.caughtUp();
  await writer.close();
  expect(batches.map(({ lines }) => lines.length)).toEqual([3, 3]);
  expect(await harness.stored()).toEqual(rows(6));
});

describe('after an assignment, the writer repeats the planned insert byte for byte', () => {
  test('with the same token, even if the batch limits have changed', async () => {
    await harness.put(range(0, 20));
    let failing = true;
    const broken = createFaultyAnalytics(engine.analytics, (name) => {
      if (failing && name === 'insertRecords:done') throw new DependencyError('analytics_unavailable', 'test');
    });
    const first = await harness.start({ analytics: broken }, 12);
    await eventually('inserted, but not known', async () => (await harness.stored()).length === 12);
    await first.close();
    failing = false;
    const { analytics, batches } = recording();
    const second = await harness.start({ analytics }, 5);
    await harness.caughtUp();
    await second.close();
    expect(batches.map(({ token }) => token.split(':')[3])).toEqual(['0-11', '12-16', '17-19']);
    expect(await harness.stored()).toEqual(rows(20));
  });

  test('a checksum that differs stops the partition with an alarm', async () => {
    await harness.put(range(0, 5));
    const plan = { from: 0, to: 2, version: RECORDS_COLUMNS_VERSION, generation: 0, checksum: 'not this' };
    await commitByHand(harness.eventLog, { offset: 0, metadata: encodeProgress({ next: 0, plan }) });
    const writer = await harness.start();
    const alarm = await eventually('the alarm', () => writer.status()[0]?.alarm);
    expect(alarm).toContain('planned');
    await writer.close();
    expect(await harness.stored()).toEqual([]);
  });

  test('a plan can be encoded and decoded again', () => {
    const plan = { from: 5, to: 5, version: 1, generation: 3, checksum: 'ab', dead: 'x'.repeat(300), block: 9_000 };
    const text = encodeProgress({ next: 5, plan });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000);
    expect(decodeProgress(text)).toEqual({ next: 5, plan });
    expect(decodeProgress(encodeProgress({ next: 7 }))).toEqual({ next: 7 });
    for (const cut of [
      { next: 7, truncatedAt: 3 },
      { next: 5, plan, truncatedAt: 0 },
    ]) {
      expect(decodeProgress(encodeProgress(cut))).toEqual(cut);
    }
    expect(() => decodeProgress('{"f":3}')).toThrow(TypeError);
  });
});

test('unavailable: the same insert with the same token is repeated until ClickHouse accepts it', async () => {
  let failures = 3;
  const { analytics, batches } = recording();
  const broken = createFaultyAnalytics(analytics, (name) => {
    if (name === 'insertRecords:done' && failures-- > 0) throw new DependencyError('analytics_unavailable', 'test');
  });
  await harness.put(range(0, 5));
  const writer = await harness.start({ analytics: broken });
  await harness.caughtUp();
  expect(writer.status()[0]?.lastError).toBeUndefined();
  await writer.close();
  expect(new Set(batches.map(({ token }) => token)).size).toBe(1);
  expect(await harness.stored()).toEqual(rows(5));
});

describe('a row that ClickHouse refuses is found by halving the batch, and becomes a dead letter', () => {
  test('the rows around the refused row are stored unchanged', async () => {
    await harness.put(range(0, 40), { bad: [0, 13, 14, 39] });
    const writer = await harness.start({}, 20);
    await harness.caughtUp();
    await writer.close();
    const stored = await harness.stored();
    expect(stored.map(({ copies }) => copies)).toEqual(range(0, 40).map(() => 1));
    expect(stored.filter(({ outcome }) => outcome === 'dead')).toMatchObject(
      [0, 13, 14, 39].map((raw) => ({ raw, reason: 'row_refused' })),
    );
    const [dead] = await engine.analytics.select<{ site_id: string; detail: string }>(
      `SELECT site_id, detail FROM records WHERE log_id = {logId:String} AND raw_offset = 13`,
      { logId: harness.eventLog.logId },
    );
    expect(dead?.site_id).toBe('site-1');
    expect(JSON.parse(dead?.detail ?? '')).toMatchObject({
      topic: TOPIC_ENRICHED,
      partition: 0,
      offset: 13,
      stage: 'writer',
    });
    expect(JSON.parse(dead?.detail ?? '').payload).toContain('"wide"');
  });

  test('if ClickHouse refuses all rows and dead letters, no row becomes a dead letter', async () => {
    await harness.put(range(0, 8), { receivedAt: JUNE });
    let broken = true;
    const { analytics } = engine;
    const writer = await harness.start({
      analytics: {
        ...analytics,
        async insertRecords(batch) {
          // The insert of a dead letter may be running when `broken` becomes false. It is refused too, so that the row itself is stored.
          const dead = Buffer.concat(batch.lines).includes('row_refused');
          if (broken || dead) throw new DependencyError('analytics_refused', 'test');
          await analytics.insertRecords(batch);
        },
      },
    });
    const alarm = await eventually('the alarm', () => writer.status()[0]?.alarm);
    expect(alarm).toContain('refuses even a dead letter');
    expect(await harness.stored()).toEqual([]);
    broken = false;
    await harness.caughtUp();
    await writer.close();
    expect(await harness.stored()).toEqual(rows(8));
  });

  test('many refused rows in sequence raise an alarm, but do not stop the partition', async () => {
    await harness.put(range(0, 60), { bad: range(10, 50) });
    const alarms: (string | undefined)[] = [];
    let writer: Writer | undefined;
    writer = await harness.start(
      {
        analytics: {
          ...engine.analytics,
          async insertRecords(batch) {
            alarms.push(writer?.status()[0]?.alarm);
            await engine.analytics.insertRecords(batch);
          },
        },
      },
      60,
    );
    await harness.caughtUp();
    expect(writer.status()[0]?.alarm).toBeUndefined();
    await writer.close();
    expect(alarms).toContain(
      '20 or more rows in sequence were refused and stored as dead letters: see the table dead_letters',
    );
    const stored = await harness.stored();
    expect(stored.map(({ copies }) => copies)).toEqual(range(0, 60).map(() => 1));
    expect(stored.filter(({ outcome }) => outcome === 'dead').map(({ raw }) => raw)).toEqual(range(10, 50));
  });

  test('a dead letter has a value in every column, so a table that accepts it also accepts rows', () => {
    const row = {
      rawOffset: 3,
      offset: 4,
      version: RECORDS_COLUMNS_VERSION,
      receivedAt: JUNE,
      line: Buffer.from('not JSON\n'),
    };
    const values = JSON.parse(Buffer.from(refusedRowLetter({ logId: 'l', partition: 0, row, error: 'e' })).toString());
    expect(values).toHaveLength(RECORDS_COLUMNS.length);
    expect(values).not.toContain(null);
  });
});

test('repeats that arrive during a commit are also committed, even if the linger ends during that commit', async () => {
  let held: (() => void) | undefined;
  const holding: EventLog = {
    ...harness.eventLog,
    consume: (options) =>
      harness.eventLog.consume({
        ...options,
        open: (handle) =>
          options.open({
            ...handle,
            async commit(commit) {
              if (held === undefined && decodeProgress(commit.metadata ?? '')?.plan === undefined) {
                await new Promise<void>((resolve) => (held = resolve));
              }
              await handle.commit(commit);
            },
          }),
      }),
  };
  await harness.put(range(0, 3));
  const writer = await harness.start({ eventLog: holding });
  await eventually('the commit', () => held);
  await harness.put(range(0, 3));
  await new Promise((resolve) => setTimeout(resolve, 200)); // The linger of 5 ms must end during the commit.
  held?.();
  await harness.caughtUp();
  await writer.close();
  expect(await harness.stored()).toEqual(rows(3));
});
