import { eventually } from '@weir/testkit/eventually';
import { ABANDONED_MS, createDiffRuns } from '../src/replay/diff/diff-runs.ts';
import type { ReplayDiff, ReportSteps } from '../src/replay/diff/replay-diff.ts';

const DIFF: ReplayDiff = { replay_id: 'r', days: [], changes: [], versions: [] };

let now: number;
let report: ReportSteps;
let finish: (diff: ReplayDiff) => void;
let fail: (error: Error) => void;
let started: number;
beforeEach(() => {
  now = 1_000;
  started = 0;
});
const newRuns = () => createDiffRuns(() => now, 20);
const work = (reportOfRun: ReportSteps): Promise<ReplayDiff> => {
  started += 1;
  report = reportOfRun;
  return new Promise((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
};

test('a diff that is ready in time is the answer, and is computed again for the next ask', async () => {
  const runs = newRuns();
  const asked = runs.ask('r 20', work);
  finish(DIFF);
  expect(await asked).toBe(DIFF);
  const again = runs.ask('r 20', work);
  finish(DIFF);
  expect([await again, started]).toEqual([DIFF, 2]);
});

test('a long diff answers with its progress, continues, and is the answer of a later ask', async () => {
  const runs = newRuns();
  const first = runs.ask('r 20', work);
  report(3, 9);
  expect(await first).toEqual({ steps_done: 3, steps: 9 });
  expect(await runs.ask('r 7', work)).toBe('busy');
  finish(DIFF);
  expect([await runs.ask('r 20', work), started]).toEqual([DIFF, 1]);
});

test('an error is the answer, and the next ask begins again', async () => {
  const runs = newRuns();
  const asked = runs.ask('r 20', work);
  fail(new Error('out of memory'));
  await expect(asked).rejects.toThrow('out of memory');
  const again = runs.ask('r 20', work);
  finish(DIFF);
  expect([await again, started]).toEqual([DIFF, 2]);
});

test('a diff for which no client asks any more ends, and another one can begin', async () => {
  const runs = newRuns();
  await runs.ask('r 20', work);
  now += ABANDONED_MS + 1;
  expect(() => report(4, 9)).toThrow('no client waits');
  const other = runs.ask('r 7', work);
  await eventually('the other diff to begin', async () => started === 2);
  finish(DIFF);
  expect(await other).toBe(DIFF);
});

test('a diff that ended after it was abandoned is not the answer of a later ask', async () => {
  const runs = newRuns();
  await runs.ask('r 20', work);
  finish(DIFF);
  now += ABANDONED_MS + 1;
  const later = { ...DIFF, replay_id: 'later' };
  const asked = runs.ask('r 20', work);
  finish(later);
  expect([await asked, started]).toEqual([later, 2]);
});
