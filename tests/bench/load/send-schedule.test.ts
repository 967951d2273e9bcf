import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { startSchedule } from './send-schedule.ts';

const PER_SECOND = 500;
const MS_PER_REQUEST = 2;

/** Starts a schedule with a clock that the test sets. The clock starts at 1,000 ms. */
function started(precise: boolean, onSend: (n: number) => void = () => undefined) {
  const clock = { ms: 1_000, reads: 0 };
  const read = (): number => {
    clock.reads++;
    return clock.ms;
  };
  const sent: number[] = [];
  const planned: number[] = [];
  const schedule = startSchedule({ perSecond: PER_SECOND, precise, clock: read }, (n, plannedAtMs) => {
    sent.push(n);
    planned.push(plannedAtMs);
    onSend(n);
  });
  /** Resolves when the schedule has read the clock a few times more. */
  const looked = async (): Promise<void> => {
    const before = clock.reads;
    await eventually('more reads of the clock', () => clock.reads >= before + 3);
  };
  return { schedule, clock, sent, planned, looked };
}

describe.each([
  ['precise', true],
  ['with a timer', false],
])('startSchedule, %s', (_, precise) => {
  test('sends each request when it is due, and none before', async () => {
    const { schedule, clock, sent, planned, looked } = started(precise);
    await looked();
    expect(sent).toEqual([0]);
    clock.ms += MS_PER_REQUEST - 0.01;
    await looked();
    expect(sent).toEqual([0]);
    clock.ms += 0.01;
    await looked();
    expect(sent).toEqual([0, 1]);
    clock.ms += 3 * MS_PER_REQUEST;
    await looked();
    schedule.stop();
    expect(sent).toEqual([0, 1, 2, 3, 4]);
    expect(planned).toEqual([1_000, 1_002, 1_004, 1_006, 1_008]);
    expect(schedule.sent()).toBe(5);
  });

  test('sends nothing more after it was stopped, even if requests are due', async () => {
    const { schedule, clock, sent } = started(precise, (n) => n === 2 && schedule.stop());
    clock.ms += 10 * MS_PER_REQUEST;
    await eventually('three requests', () => sent.length >= 3);
    const { reads } = clock;
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    expect(sent).toEqual([0, 1, 2]);
    expect(clock.reads).toBe(reads);
  });
});

test('a precise schedule reads the clock in each turn of the event loop', async () => {
  const { schedule, clock } = started(true);
  const before = clock.reads;
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  schedule.stop();
  expect(clock.reads - before).toBeGreaterThanOrEqual(9);
});
