import { type FailingWeir, openFailing } from '../failpoints/failing-weir.ts';
import type { FaultOrder } from '../failpoints/fault-order.ts';
import type { Fault } from '../suite/fault.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

/** A fault happens at one of the next NTH_MAX calls of its point, chosen at random. */
const NTH_MAX = 10;
const SLOW_CALLS_MAX = 4;
const HEAP_MB = 200;

type Point = Partial<FaultOrder> & Pick<FaultOrder, 'point'>;

/**
 * The steps that Weir does for a record, in order. The last element of an entry names a method of a port. The process is killed before the call of
 * this method, or after it (`:done`).
 */
const KILLS: readonly (readonly [name: string, about: string, point: Point])[] = [
  ['after-claim', 'after the gateway has claimed idempotency keys', { point: 'claimKeys:done' }],
  [
    'after-append',
    'after the raw records are durable, before the answer',
    { point: 'append:done', about: '^events.raw' },
  ],
  ['before-confirm', 'before the gateway confirms its claims', { point: 'confirmKeys' }],
  ['after-enriched-append', 'after the outcomes are appended', { point: 'append:done', about: '^events.enriched' }],
  ['after-state', 'after the enricher has written its state', { point: 'writeState:done' }],
  ['before-commit', 'before the enricher commits its offset', { point: 'commit', about: '^events.raw' }],
  ['after-plan', 'after the writer has committed a plan', { point: 'commit:done', about: '^events.enriched {"f"' }],
  ['after-insert', 'after an insert, before anything is committed', { point: 'insertRecords:done' }],
  ['before-offset', 'before the writer commits its offset', { point: 'commit', about: '^events.enriched {"n"' }],
];

const ERRORS: readonly (readonly [name: string, about: string, point: Point])[] = [
  ['insert-fails', 'an insert fails before it is sent', { point: 'insertRecords', action: 'fail' }],
  [
    'insert-done-but-error',
    'an insert is done, but answered with an error',
    { point: 'insertRecords:done', action: 'fail' },
  ],
  [
    'insert-late',
    'an insert is done, but answered 3 s late',
    { point: 'insertRecords:done', action: 'late', lateMs: 3_000 },
  ],
  ['append-refused', 'the log refuses raw records', { point: 'outcome', about: '^events.raw', outcome: 'refused' }],
  [
    'append-unknown',
    'the log stores raw records, but their result is unknown',
    { point: 'outcome', about: '^events.raw', outcome: 'stored-unknown' },
  ],
  [
    'outcomes-unknown',
    'the log stores outcomes, but their result is unknown',
    { point: 'outcome', about: '^events.enriched', outcome: 'stored-unknown' },
  ],
  [
    'outcomes-half',
    'the log stores half of the outcomes',
    { point: 'outcome', about: '^events.enriched', outcome: 'half' },
  ],
  [
    'commit-unknown',
    'a commit of the enricher is done, but answered with an error',
    { point: 'commit:done', about: '^events.raw', action: 'fail' },
  ],
  [
    'plan-unknown',
    'a commit of the writer is done, but answered with an error',
    { point: 'commit:done', about: '^events.enriched', action: 'fail' },
  ],
  ['state-fails', 'the state store fails when the enricher writes', { point: 'writeState', action: 'fail' }],
  ['state-unknown', 'the state is written, but answered with an error', { point: 'writeState:done', action: 'fail' }],
  ['claims-fail', 'the state store fails when the gateway claims keys', { point: 'claimKeys', action: 'fail' }],
];

const FAULTS: readonly Fault<FailingWeir>[] = [
  ...KILLS.map(
    ([name, about, point]): Fault<FailingWeir> => ({
      name: `kill-${name}`,
      about: `\`kill -9\` ${about}`,
      open: () => openFailing(),
      shares: 'failing',
      async strike({ weir, arm, died }, { random, over }) {
        arm({ ...point, nth: 1 + Math.floor(random() * NTH_MAX) });
        await died();
        await weir.kill9();
        over();
        await weir.restart();
      },
    }),
  ),
  ...ERRORS.map(
    ([name, about, point]): Fault<FailingWeir> => ({
      name,
      about,
      open: () => openFailing(),
      shares: 'failing',
      async strike({ arm, happened }, { random }) {
        arm({ ...point, nth: 1 + Math.floor(random() * NTH_MAX), times: 1 + Math.floor(random() * SLOW_CALLS_MAX) });
        await happened();
      },
    }),
  ),
  {
    name: 'out-of-memory',
    about: `the heap reaches its limit (${HEAP_MB} MB), and V8 ends the process`,
    open: () => openFailing({ NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` }),
    async strike({ weir, arm, died }, { random, over }) {
      arm({ point: 'append', nth: 1 + Math.floor(random() * NTH_MAX), action: 'memory' });
      await died();
      await weir.kill9();
      over();
      await weir.restart();
    },
  },
];

export const STEP_FAULTS: readonly Runnable[] = FAULTS.map(embedded);
