import { eventually } from '@weir/testkit/eventually';
import type { Fault } from '../../faults/suite/fault.ts';
import type { InsertFault } from '../../faults/suite/refusing-proxy.ts';
import { DEPLOYED, type Deployed } from './deployed-subject.ts';

const TIMES_MAX = 4;
const LATE_MS = 3_000;

const FAULTS: readonly (readonly [name: string, about: string, fault: InsertFault])[] = [
  [
    'insert-done-but-error',
    'inserts are done, but answered with an error',
    { kind: 'done-but-error', error: { code: 159, name: 'TIMEOUT_EXCEEDED' } },
  ],
  ['insert-late', 'inserts are done, but answered 3 s late', { kind: 'late', lateMs: LATE_MS }],
];

/** Faults of inserts into ClickHouse. A fault happens to all inserts, and ends after 1 to 4 of them. */
export const INSERT_FAULTS: readonly Fault<Deployed>[] = FAULTS.map(([name, about, fault]) => ({
  ...{ ...DEPLOYED, name, about },
  async strike({ clickhouse: { http } }, { random }) {
    const times = 1 + Math.floor(random() * TIMES_MAX);
    http.disturb(fault);
    await eventually('inserts to be disturbed', () => http.disturbed() >= times);
    http.disturb(undefined);
  },
}));
