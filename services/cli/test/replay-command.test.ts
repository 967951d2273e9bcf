import { eventually } from '@weir/testkit/eventually';
import { cli } from './cli-harness.ts';
import { useControl } from './use-control.ts';

const { weir, env } = useControl();

const run = (...args: string[]) => cli(['replay', ...args], { env });

test('start follows the replay, a second start is refused; diff, swap, undo and drop', async () => {
  expect((await run('start', '--from', 'enriched', '--dry-run')).out).toMatch(
    /records to replay +0\nrecords to copy +0\n/,
  );
  // While Weir counts, Ctrl-C ends the command at once.
  const interruption = jest.fn();
  await cli(['replay', 'start', '--from', 'enriched', '--dry-run'], { env, interruption });
  expect(interruption).not.toHaveBeenCalled();
  expect((await run('status')).err).toBe('weir: there is no replay: start one (weir replay start)\n');
  const started = await run('start', '--from', 'enriched', '--rate', '1000', '--json');
  expect([started.exitCode, started.json]).toMatchObject([0, { phase: 'follow', records_per_second_max: 1000 }]);
  expect((await run('start', '--from', 'enriched')).err).toBe(
    'weir: there is a replay already: drop it first (weir replay drop)\n',
  );
  expect((await run('status')).out).toMatch(/phase +follow: .*\ncopied +0 of 0 records\n/);
  expect((await run('diff')).out).toMatch(/^No difference in \d+ days\.\n/);
  expect((await run('undo')).err).toBe('weir: there is no swap to undo\n');
  const swapped = await run('swap');
  expect(swapped.out).toMatch(/phase +swapped: .*(\n.*)+undo until +20/);
  // A swap replays nothing, so it shows no progress of records.
  expect(swapped.err).not.toMatch(/\d+ of \d+ records/);
  const exchanged = 'weir: the tables were exchanged already: weir replay drop removes the shadow tables';
  expect((await run('diff')).err).toContain(exchanged);
  expect((await run('undo', '--json')).json).toMatchObject({ phase: 'undone', refusal: null });
  expect((await run('status')).out).toMatch(/\nundone at +20/);
  const undone = 'weir: the swap was undone: weir replay drop removes the shadow tables';
  expect((await run('diff')).err).toContain(undone);
  expect((await run('swap')).err).toContain(undone);
  expect((await run('drop')).out).toBe(`dropped ${started.json.replay_id}\n`);
  expect((await run('drop')).exitCode).toBe(1);
});

test('Ctrl-C leaves the replay running and says so', async () => {
  const stop = new AbortController();
  const started = cli(['replay', 'start', '--from', 'enriched'], { env, interruption: () => stop.signal });
  await eventually('the replay', async () => (await weir.call('GET', '/replays/current')).status === 200);
  stop.abort();
  const { exitCode, err } = await started;
  expect([exitCode, err]).toEqual([130, expect.stringContaining('The replay goes on without this command')]);
  expect((await weir.call('GET', '/replays/current')).status).toBe(200);
  await run('drop');
});

test.each([
  [['start'], 2],
  [['start', '--from', 'nowhere'], 2],
  [['start', '--from', 'enriched', '--rate', 'fast'], 2],
  [['start', '--from', 'enriched', '--since', 'soon'], 1],
  [['start', '--help'], 0],
])('weir replay %j ends with %i', async (args, exitCode) => {
  expect((await run(...args)).exitCode).toBe(exitCode);
});
