import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from './read-files.ts';

/** Runs a program of infra/kafka. By default with the address of a Kafka that does not exist. */
async function run(args: readonly string[], input: string, program = 'registry-backup', brokers = '127.0.0.1:1') {
  const env = { PATH: process.env.PATH ?? '', KAFKA_BROKERS: brokers };
  const child = spawn(process.execPath, [join(ROOT, `infra/kafka/${program}.mjs`), ...args], { env });
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
  [['restore'], '{"key":"site/a","value":"{}"}\n{"key":"site/b","va', 'cut off: {"key":"site/b","va'],
])('registry-backup.mjs %j with the input %j is refused before it connects to Kafka', async (args, input, message) => {
  const { stderr, code } = await run(args, input);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test.each([
  ['registry-backup', ['dump']],
  ['apply-acls', []],
])('%s.mjs says that KAFKA_BROKERS is missing', async (program, args) => {
  const { stderr, code } = await run(args, '', program, '');
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^[a-z-]+: KAFKA_BROKERS is not set: .*\n$/)]);
});
