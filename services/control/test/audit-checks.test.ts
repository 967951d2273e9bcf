import { startAuditChecks } from '@weir/control/audit/audit-checks';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import {
  batch,
  type ClickhouseUnderTest,
  openClickhouseUnderTest,
  type RowFields,
} from '../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

let opened: ClickhouseUnderTest;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  await opened.analytics.migrate();
});
afterAll(() => opened.close());

/** Inserts rows of the partition, one for each raw offset. */
async function insert(partition: number, offsets: readonly number[], fields: RowFields = {}): Promise<void> {
  const rows = offsets.map((offset) => ({ raw_partition: partition, raw_offset: offset, ...fields }));
  const made = batch(0, rows);
  await opened.analytics.insertRecords({ ...made, token: `${partition} ${offsets.join()} ${JSON.stringify(fields)}` });
}

/** Runs the check again and again. `replaces`: whether an erasure is under way. */
function run() {
  const logged: object[] = [];
  const statements: string[] = [];
  const metrics = createMetrics();
  let replaces = false;
  const registry = {
    erasures: () => (replaces ? [{ phase: 'deleting' }] : []),
    replay: () => undefined,
    writersPause: () => undefined,
    expiry: () => undefined,
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
    statements.push(sql);
    return opened.analytics.select(sql, ...more);
  };
  const checks = startAuditChecks({
    ...{ analytics: { select }, eventLog, registry, ready: Promise.resolve(), clock: Date.now },
    ...{ logger: logger as unknown as Logger, metrics, everyMs: 20 },
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
    setReplaces: (value: boolean) => {
      replaces = value;
    },
    unbalanced: async () =>
      [
        ...(await metrics.metrics()).matchAll(
          /^weir_audit_unbalanced_records\{partition="(\d)",kind="(\w+)"\} (\d+)$/gm,
        ),
      ]
        .map(([, partition, kind, count]) => `${partition} ${kind} ${count}`)
        .filter((line) => !line.endsWith(' 0')),
    close: () => checks.close(),
  };
}

test('holes and repeated rows are counted and named; what was compared is not read again', async () => {
  await insert(0, [0, 1, 2, 3]);
  await insert(1, [0, 1]);
  const audit = run();
  await audit.twice();
  expect([await audit.unbalanced(), audit.logged]).toEqual([[], []]);

  // Nothing new: only the counts by partition are read.
  audit.statements.length = 0;
  await audit.twice();
  expect(audit.statements.filter((sql) => sql.includes('groupBitmap'))).toEqual([]);

  await insert(1, [3, 6], { site_id: 'later' });
  await eventually('the holes', async () => (await audit.unbalanced()).length > 0);
  expect(await audit.unbalanced()).toEqual(['1 missing 3']);
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

  // One row more below the checkpoint.
  audit.logged.length = 0;
  await insert(0, [1], { site_id: 'twice' });
  await eventually('the repeated row', async () => (await audit.unbalanced()).length > 0);
  expect(await audit.unbalanced()).toEqual(['0 repeated 1']);
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
  expect(audit.logged).toContainEqual(expect.objectContaining({ partition: 2, missingOffsets: [' 3-3'] }));
  await insert(2, [3]);
  await eventually('the balance', async () => !(await audit.unbalanced()).includes('2 missing 1'));
  await audit.close();
});

test('nothing is compared while an erasure replaces rows', async () => {
  const audit = run();
  await audit.twice();
  audit.setReplaces(true);
  await audit.close();
  const waiting = run();
  waiting.setReplaces(true);
  await insert(3, [5]);
  await waiting.close();
  expect(await waiting.unbalanced()).not.toContain('3 missing 5');
});
