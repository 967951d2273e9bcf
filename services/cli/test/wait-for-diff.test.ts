import type { AdminClient } from '../src/admin-client.ts';
import type { CliIo } from '../src/cli-io.ts';
import { waitForDiff } from '../src/replay/wait-for-diff.ts';

test('a diff that takes longer than one answer is asked for until it is there, with its progress', async () => {
  const diff = { days: [], changes: [], versions: [] };
  const answers: unknown[] = [{ steps_done: 1, steps: 4 }, { steps_done: 3, steps: 4 }, diff];
  const asked: string[] = [];
  const client = {
    call: async (_method: string, path: string) => {
      asked.push(path);
      return answers[asked.length - 1];
    },
  } as unknown as AdminClient;
  const lines: string[] = [];
  let now = 0;
  const io = {
    clock: () => {
      now += 10_000;
      return now;
    },
    stderr: { isTTY: false, write: (line: string) => lines.push(line) },
  } as unknown as CliIo;
  expect(await waitForDiff(io, client, '/replays/current/diff')).toBe(diff);
  expect(asked).toHaveLength(3);
  expect(lines.join('')).toContain('3 of 4 steps');
});
