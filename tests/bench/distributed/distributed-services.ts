import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';

const PROGRAM = join(PROJECT_ROOT, 'infra/local/services.mjs');
const TICK_MICROS = 10_000;
const run = promisify(execFile);

export const ENGINES = ['kafka', 'redis', 'clickhouse'] as const;
type EngineName = (typeof ENGINES)[number];

/** Real services on loopback. Their CPU time and the disk usage of topics can be read. */
export interface BenchServices {
  readonly env: Readonly<Record<string, string>>;
  cpuMicros(name: EngineName): number;
  /** The size of all partitions of a topic on the disk of the broker. */
  topicBytes(topic: string): number;
  close(): Promise<void>;
}

export function servicesMissing(): string | undefined {
  if (process.env.CI === 'true') return undefined;
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'check'], { encoding: 'utf8' });
  return status === 0 ? undefined : stderr.trim();
}

/** Starts the named services; without names, all of them. */
export async function startBenchServices(only: readonly EngineName[] = ENGINES): Promise<BenchServices> {
  const dir = join(PROJECT_ROOT, '.cache/services', `bench-${randomUUID().slice(0, 8)}`);
  const down = [PROGRAM, 'down', '--dir', dir, '--wipe'];
  // The services do not end with this process. This handler stops them, even if the benchmark is interrupted.
  const downAtExit = (): void => void spawnSync(process.execPath, down);
  process.once('exit', downAtExit);
  const { stdout } = await run(process.execPath, [PROGRAM, 'up', '--dir', dir, '--only', only.join(',')]);
  const data = join(dir, 'kafka/data');
  return {
    env: Object.fromEntries([...stdout.matchAll(/^export (\w+)=(.+)$/gm)].map(([, name, value]) => [name, value])),
    cpuMicros: (name) => ticksWithChildren(Number(readFileSync(join(dir, name, 'pid'), 'utf8'))) * TICK_MICROS,
    topicBytes(topic) {
      const folders = readdirSync(data).filter((name) => name.startsWith(`${topic}-`));
      const { stdout: sizes } = spawnSync('du', ['-sk', ...folders], { cwd: data, encoding: 'utf8' });
      return [...sizes.matchAll(/^(\d+)/gm)].reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
    },
    async close() {
      await run(process.execPath, down);
      process.off('exit', downAtExit);
    },
  };
}

/**
 * The CPU time of a process and its child processes, in ticks. The embedded ClickHouse is a child of the started process. 0 on systems
 * without /proc.
 */
function ticksWithChildren(pid: number): number {
  if (!existsSync('/proc/self/stat')) return 0;
  let ticks = 0;
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = statOf(entry);
    if (entry === String(pid) || fields[1] === String(pid)) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks;
}

/** The fields of /proc/PID/stat from the process state on. Empty if the process has ended. */
function statOf(pid: string): readonly string[] {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return [];
  try {
    const stat = readFileSync(file, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
