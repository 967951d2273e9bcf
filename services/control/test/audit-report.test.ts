import { auditReport } from '@weir/control/audit/audit-report';

const position = (partition: number, end: number) => ({ partition, first: 0, end, committed: end });
const held = (partition: number, records: number, distinct: number, highest: number, log = 'log') => ({
  log_id: log,
  raw_partition: partition,
  records,
  distinct_offsets: distinct,
  erasing: 0,
  expired_in_archive: 0,
  highest,
});
const count = (outcome: string, records: number, reason = '', site = 's') => ({
  log_id: 'log',
  site_id: site,
  outcome,
  reason,
  records,
});

describe('raw offsets 0 .. last each have exactly one outcome', () => {
  test('balanced, with two in flight', () => {
    const counts = [
      count('row', 5),
      count('identify', 1),
      count('duplicate', 1),
      count('dropped', 1, 'excluded_ip', 't'),
    ];
    const report = auditReport('log', [position(0, 10), position(1, 0)], [held(0, 8, 8, 7)], counts, false);
    expect(report).toMatchObject({
      balanced: true,
      totals: {
        received: 10,
        stored: 5,
        identify: 1,
        duplicate: 1,
        dropped: { excluded_ip: 1 },
        dead: {},
        in_flight: 2,
      },
      sites: [
        { site_id: 's', stored: 5 },
        { site_id: 't', stored: 0, dropped: { excluded_ip: 1 } },
      ],
    });
  });
  test('an offset that is missing', () => {
    const report = auditReport('log', [position(0, 8)], [held(0, 7, 7, 7)], [count('row', 7)], false);
    expect(report).toMatchObject({ balanced: false, partitions: [{ missing: 1, repeated: 0, balanced: false }] });
  });
  test('an offset that is there twice, even where another one is missing', () => {
    const report = auditReport('log', [position(0, 8)], [held(0, 8, 7, 7)], [count('row', 8)], false);
    expect(report).toMatchObject({ balanced: false, partitions: [{ missing: 1, repeated: 1 }] });
  });
  test('outcomes of records that the log does not have', () => {
    const report = auditReport('log', [position(0, 5)], [held(0, 8, 8, 7)], [count('row', 8)], false);
    expect(report).toMatchObject({ balanced: false, partitions: [{ in_flight: -3 }] });
  });
  test('an erasure that is under way has offsets twice, and they are no fault until it is done', () => {
    const stored = [{ ...held(0, 10, 8, 7), erasing: 2 }];
    const counts = [count('row', 8), count('erased', 2)];
    const positions = [position(0, 8)];
    const report = auditReport('log', positions, stored, counts, true);
    expect(report).toMatchObject({ balanced: true, totals: { received: 8, stored: 8, erased: 2, erasing: 2 } });
    expect(auditReport('log', positions, stored, counts, false).balanced).toBe(false);
    const done = auditReport('log', positions, [held(0, 8, 8, 7)], [count('row', 6), count('erased', 2)], false);
    expect(done).toMatchObject({ balanced: true, totals: { received: 8, stored: 6, erased: 2, erasing: 0 } });
  });
  test('an earlier log has nothing in flight, and its gaps count', () => {
    const stored = [held(0, 3, 3, 2), held(0, 4, 4, 3, 'old')];
    const counts = [count('row', 3), { ...count('row', 4), log_id: 'old' }];
    expect(auditReport('log', [position(0, 3)], stored, counts, false)).toMatchObject({
      balanced: true,
      totals: { received: 7 },
    });
    const gap = [held(0, 3, 3, 2), held(0, 4, 4, 5, 'old')];
    expect(auditReport('log', [position(0, 3)], gap, counts, false).balanced).toBe(false);
  });
});
