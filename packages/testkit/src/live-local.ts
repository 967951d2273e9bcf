import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from './weir-process.ts';

const SERVICES = resolve(PROJECT_ROOT, 'infra/local/services.mjs');
const run = promisify(execFile);

export type LiveName = 'kafka' | 'redis' | 's3';

/** A real service that a test uses. */
export interface LiveService {
  /** A value for `KAFKA_BROKERS`, `REDIS_URL` or `S3_ENDPOINT`. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Starts a service with infra/local, for one test, in a folder of its own. `close` removes the folder. Before the start, each of the
 * `settings` is written to a file with its name in the folder, for example `advertised-port` (infra/local/kafka.mjs).
 */
export async function startLocal(
  name: LiveName,
  settings: Readonly<Record<string, number>> = {},
): Promise<LiveService & { readonly dir: string }> {
  const dir = resolve(PROJECT_ROOT, '.cache/services', `test-${randomUUID()}`);
  mkdirSync(resolve(dir, name), { recursive: true });
  for (const [file, value] of Object.entries(settings)) writeFileSync(resolve(dir, name, file), String(value));
  const address = await upLocal(name, dir);
  return {
    address,
    dir,
    close: async () => void (await run(process.execPath, [SERVICES, 'down', '--only', name, '--dir', dir, '--wipe'])),
  };
}

/** Starts the service in its folder. A second start uses the same address. */
export async function upLocal(name: LiveName, dir: string): Promise<string> {
  const { stdout } = await run(process.execPath, [SERVICES, 'up', '--only', name, '--dir', dir]);
  const address = /^export \w+=(.+)\n$/.exec(stdout)?.[1];
  if (address === undefined) throw new Error(`services up printed ${JSON.stringify(stdout)}`);
  return address;
}

/** Says why the service cannot be started here; `undefined` if it can. With CI=true, the start installs what is missing. */
export function localProblem(name: LiveName): string | undefined {
  if (process.env.CI === 'true') return undefined;
  const { status, stderr } = spawnSync(process.execPath, [SERVICES, 'check', '--only', name], { encoding: 'utf8' });
  return status === 0 ? undefined : stderr.trim();
}

/** With CI=true, installs the programs of the service that are missing. For tests that start these programs themselves, without `startLocal`. */
export function installLocal(name: LiveName): void {
  if (process.env.CI !== 'true') return;
  const script = `import('./infra/local/${name}.mjs').then(({ ${name} }) => ${name}.install())`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { cwd: PROJECT_ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}
