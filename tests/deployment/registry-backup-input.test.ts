import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from './read-files.ts';

/** Runs infra/kafka/registry-backup.mjs with the address of a Kafka that does not exist. */
async function run(args: readonly string[], input: string) {
  const env = { PATH: process.env.PATH ?? '', KAFKA_BROKERS: '127.0.0.1:1' };
  const child = spawn(process.execPath, [join(ROOT, 'infra/kafka/registry-backup.mjs'), ...args], { env });
  child.stdin.end(input);
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { stderr, code };
}

test.each([
  [['restore', '--newlog'], '{"key":"site/a","value":"{}"}\n', 'use: registry-backup.mjs'],
  [['dump', '--new-log'], '', 'use: registry-backup.mjs'],
  [['restore'], '', 'the input has no rows'],
  [['restore', '--new-log'], '', 'the input has no rows'],
  [['restore'], '{"key":1}\n', 'not a row of a registry'],
])('registry-backup.mjs %j with the input %j is refused before it connects to Kafka', async (args, input, message) => {
  const { stderr, code } = await run(args, input);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
