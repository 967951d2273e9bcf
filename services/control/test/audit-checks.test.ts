import { startAuditChecks } from '@weir/control/audit/audit-checks';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { createInsert, useClickhouse } from '../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

const opened = useClickhouse();
const insert = createInsert(opened);

interface Work {
  readonly erasure?: 'resolving' | 'deleting' | 'archive';
  readonly expiry?: 'waiting' | 'deleting';
  readonly replay?: true;
  readonly swap?: true;
}

/** Runs the check repeatedly. Statements that contain the text in `refused` fail. With `hangs`, no statement ends. */
function run({
  work = {},
  ...options
}: {
  work?: Work;
  refused?: string;
  hangs?: boolean;
  wholeEveryMs?: number;
} = {}) {
  const logged: object[] = [];
  const statements: string[] = [];
  const metrics = createMetrics();
  let looks = 0;
  const registry = {
    erasures: () => (work.erasure ? [{ phase: work.erasure }] : []),
    replay: () => (work.replay ? { state: { phase: 'follow' } } : undefined),
    writersPause: () => {
      looks++;
      return work.swap ? { over: false } : undefined;
    },
    expiry: () => (work.expiry ? { phase: work.expiry } : undefined),
  } as unknown as Registry;
  // The log has a readable record at offset 2 of partition 1 only.
  const head = { eventId: 'e', kind: 'event', siteId: 'of-log', receivedAt: 1, sealedIp: '', userAgent: '' } as const;
  const value = encodeRawRecord({ ...head, acceptLanguage: '' }, '{}');
  const eventLog = {
    logId: 'log-1',
    read: async (_topic: string, partition: number, offset: number) =>
      partition === 1 && offset === 2 ? [{ offset, value }] : [],
  } as unknown as EventLog;
  const logger = { warn: (line: object) => logged.push(line), error: (line: object) => logged.push(line) };
  const select: typeof opened.analytics.select = (sql, ...more) => {
    statements.push(`${sql} ${JSON.stringify(more)}`);
    if (options.hangs) return new Promise(() => undefined);
    if (options.refused && sql.includes(options.refused)) return Promise.reject(new Error('memory limit exceeded'));
    return opened.analytics.select(sql, ...more);
  };
  const checks = startAuditChecks({
    ...{
      analytics: { select, change: opened.analytics.change },
      eventLog,
      registry,
      ready: Promise.resolve(),
      clock: Date.now,
    },
    ...{ logger: logger as unknown as Logger, metrics, everyMs: 20 },
    ...(options.wholeEveryMs === undefined ? {} : { wholeEveryMs: options.wholeEveryMs }),
  });
  /** Resolves when a whole check has begun and ended after this call. */
  const twice = async () => {
    const begun = () => statements.filter((sql) => sql.includes('GROUP BY raw_partition')).length;
    const before = begun();
    await eventually('two more checks', async () => begun() >= before + 3);
  };
  return {
    logged,
    statements,
    twice,
    looks: () => looks,
    /** Whether a log line names these missing offsets. If it does, the gauge is already set, because the check sets the gauge before it logs. */
    named: (partition: number, missing: string) =>
      logged.some(
        (line) =>
          JSON.stringify(line).includes(JSON.stringify({ missingOffsets: [missing] }).slice(1, -1)) &&
          'partition' in line &&
          line.partition === partition,
      ),
    unbalanced: async () =>
      [
        ...(await metrics.metrics()).matchAll(
          /^weir_audit_unbalanced_records\{partition="(\d)",kind="(\w+)"\} (\d+)$/gm,
        ),
      ]
        .map(([, partition, kind, count]) => `${partition} ${kind} ${count}`)
        .filter((line) => !line.endsWith(' 0')),
    doneAt: async () =>
      Number(/^weir_audit_done_timestamp_seconds (\S+)$/m.exec(await metrics.metrics())?.[1] ?? Number.NaN),
    close: () => checks.close(),
  };
}

test('holes and repeated rows are counted and named; what was compared is not read again', async () => {
  await insert(0, [0, 1, 2, 3]);
  await insert(1, [0, 1]);
  const audit = run();
  await audit.twice();
  expect([await audit.unbalanced(), audit.logged]).toEqual([[], []]);

  // No row was added since the last check, so only the numbers of rows by partition are read.
  audit.statements.length = 0;
  await audit.twice();
  expect(audit.statements.filter((sql) => sql.includes('groupBitmap'))).toEqual([]);

  await insert(1, [3, 6], { site_id: 'later' });
  await eventually('the holes', async () => (await audit.unbalanced()).length > 0);
  expect(await audit.unbalanced()).toEqual(['1 missing 3']);
  await eventually('the log line', async () => audit.logged.length > 0);
  expect(audit.logged[0]).toMatchObject({
    partition: 1,
    missing: 3,
    repeated: 0,
    missingOffsets: ['of-log 2-2', ' 4-5'],
    repeatedOffsets: [],
  });

  // The missing records arrive.
  await insert(1, [2, 4, 5]);
  await eventually('the balance', async () => (await audit.unbalanced()).length === 0);

  // Inserts one more row below the checkpoint.
  audit.logged.length = 0;
  await insert(0, [1], { site_id: 'twice' });
  await eventually('the repeated row', async () => (await audit.unbalanced()).length > 0);
  expect(await audit.unbalanced()).toEqual(['0 repeated 1']);
  await eventually('the log line', async () => audit.logged.length > 0);
  expect(audit.logged[0]).toMatchObject({ partition: 0, missing: 0, repeated: 1, missingOffsets: [] });
  expect((audit.logged[0] as { repeatedOffsets: string[] }).repeatedOffsets).toEqual([
    expect.stringMatching(/^(site-1|twice) 1$/),
  ]);
  await audit.close();
});

test('a missing row below the checkpoint is found', async () => {
  await insert(2, [0, 1, 2, 3, 4]);
  const audit = run();
  await audit.twice();
  await opened.analytics.change('ALTER TABLE records DELETE WHERE raw_partition = 2 AND raw_offset = 3');
  await eventually('the hole', async () => (await audit.unbalanced()).includes('2 missing 1'));
  await eventually('the log line', async () => audit.named(2, ' 3-3'));
  await insert(2, [3]);
  await eventually('the balance', async () => !(await audit.unbalanced()).includes('2 missing 1'));
  await audit.close();
});

test('rows that are lost at the end, and then all rows of a partition, are found', async () => {
  await insert(4, [0, 1, 2, 3, 4]);
  const audit = run();
  await audit.twice();
  await opened.analytics.change('ALTER TABLE records DELETE WHERE raw_partition = 4 AND raw_offset >= 3');
  await eventually('the lost end', async () => (await audit.unbalanced()).includes('4 missing 2'));
  await eventually('the log line', async () => audit.named(4, ' 3-4'));
  await opened.analytics.change('ALTER TABLE records DELETE WHERE raw_partition = 4');
  await eventually('the lost partition', async () => (await audit.unbalanced()).includes('4 missing 5'));
  await eventually('the log line', async () => audit.named(4, ' 0-4'));
  await insert(4, [0, 1, 2, 3, 4], { site_id: 'again' });
  await eventually('the balance', async () => !(await audit.unbalanced()).join().includes('4 missing'));
  await audit.close();
});

test('a missing and a repeated row that balance are found when the distinct offsets are counted', async () => {
  await insert(5, [0, 1, 3]);
  await insert(5, [3], { site_id: 'twice' });
  const audit = run();
  await eventually('both', async () => (await audit.unbalanced()).includes('5 repeated 1'));
  expect(await audit.unbalanced()).toContain('5 missing 1');
  await eventually('the log line', async () => audit.named(5, ' 2-2'));
  await insert(5, [2]);
  await eventually('the missing row arrives', async () => !(await audit.unbalanced()).includes('5 missing 1'));
  expect(await audit.unbalanced()).toContain('5 repeated 1');
  await audit.close();
});

test('the number of missing rows is shown if their offsets cannot be read, and they are not read again', async () => {
  await insert(6, [0, 2]);
  const audit = run({ refused: 'lagInFrame' });
  await eventually('the hole', async () => (await audit.unbalanced()).includes('6 missing 1'));
  await audit.twice();
  const located = () => audit.statements.filter((sql) => sql.includes('lagInFrame')).length;
  const before = located();
  await audit.twice();
  expect(located()).toBe(before);
  await insert(6, [1]);
  await eventually('the balance', async () => !(await audit.unbalanced()).includes('6 missing 1'));
  await audit.close();
});

test('after a restart, the stored checkpoints are used: lost rows at the end are found, and only new rows are read', async () => {
  await insert(7, [0, 1, 2]);
  const checkpoint = async (): Promise<number> => {
    const [row] = await opened.analytics.select<{ reached: number | string }>(
      "SELECT max(raw_offset) AS reached FROM audit_checkpoints WHERE log_id = 'log-1' AND raw_partition = 7",
    );
    return Number(row?.reached);
  };
  const before = run();
  await eventually('the checkpoint', async () => (await checkpoint()) === 3);
  await before.close();

  await insert(7, [3]);
  const after = run();
  await eventually('the next checkpoint', async () => (await checkpoint()) === 4);
  const comparedFrom = after.statements
    .filter((statement) => statement.includes('groupBitmap(raw_offset) AS distinct FROM'))
    .map((statement) => JSON.parse(statement.slice(statement.lastIndexOf('[{')))[0])
    .map(({ partitions, froms }) => froms[partitions.indexOf(7)]);
  expect(comparedFrom).toContain(3);
  expect(comparedFrom).not.toContain(0);
  await after.close();

  await opened.analytics.change('ALTER TABLE records DELETE WHERE raw_partition = 7 AND raw_offset >= 2');
  const last = run();
  await eventually('the lost end', async () => (await last.unbalanced()).includes('7 missing 2'));
  await last.close();
  await insert(7, [2, 3], { site_id: 'again' });
});

test('a missing and a repeated row that balance below the checkpoint are found when all raw offsets are compared', async () => {
  await insert(8, [0, 1, 2, 3]);
  const first = run();
  await first.twice();
  await first.close();
  await opened.analytics.change('ALTER TABLE records DELETE WHERE raw_partition = 8 AND raw_offset = 1');
  await insert(8, [2], { site_id: 'twice' });
  const audit = run({ wholeEveryMs: 50 });
  await eventually('both', async () => (await audit.unbalanced()).join().includes('8 missing 1,8 repeated 1'));
  await audit.close();
});

test.each<Work>([{ erasure: 'deleting' }, { expiry: 'deleting' }, { swap: true }])(
  'nothing is compared while rows are replaced: %j',
  async (work) => {
    const startedAt = Date.now() / 1000;
    const audit = run({ work });
    await eventually('several looks', async () => audit.looks() > 3);
    expect(audit.statements).toEqual([]);
    // With a value of 0, WeirAuditStopped would fire soon after the start, and not after two hours.
    expect(await audit.doneAt()).toBeGreaterThanOrEqual(startedAt);
    await audit.close();
  },
);

test.each<Work>([{ erasure: 'resolving' }, { erasure: 'archive' }, { expiry: 'waiting' }, { replay: true }])(
  'the rows are compared while no row is replaced: %j',
  async (work) => {
    await insert(3, [5]);
    const audit = run({ work });
    await eventually('the hole', async () => (await audit.unbalanced()).includes('3 missing 5'));
    await audit.close();
  },
);

test('closing does not wait for a statement that does not end', async () => {
  const audit = run({ hangs: true });
  await eventually('a statement runs', async () => audit.statements.length > 0);
  await audit.close();
});
