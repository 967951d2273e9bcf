import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';

const PROGRAM = join(PROJECT_ROOT, 'infra/kafka/registry-backup.mjs');

/** Runs infra/kafka/registry-backup.mjs, as docs/operations.md describes. Resolves with its standard output. */
export async function registryBackup(brokers: string, args: readonly string[], input = ''): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', KAFKA_BROKERS: brokers };
  const child = spawn(process.execPath, [PROGRAM, ...args], { env });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Error(`registry-backup ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}
