import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@weir/testkit/eventually';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';

const PROGRAM = join(PROJECT_ROOT, 'infra/local/services.mjs');
const run = promisify(execFile);

type ServiceName = 'kafka' | 'redis' | 'clickhouse';

/** One real service on loopback, to be broken. Its address outlives its process. */
interface Service {
  readonly address: string;
  /** All that it stores, and its log. */
  readonly folder: string;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Resolves when the process is dead: a dying broker still accepts records. */
  kill9(): Promise<void>;
  /** Starts it again on what it had stored; resolves when it answers. */
  up(): Promise<void>;
  /** Throws away what it had stored; only while it is down. */
  wipe(): void;
  /** Copies what it has stored; the function puts that copy in place of what is there then. Both only while it is down. */
  copy(): () => void;
}

export interface Services extends Readonly<Record<ServiceName, Service>> {
  /** What Weir needs to use them. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Why there can be none here; `undefined` where there can. With CI=true what is missing is installed. */
export function servicesProblem(): string | undefined {
  if (process.env.CI === 'true') return undefined;
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'check'], { encoding: 'utf8' });
  return status === 0 ? undefined : stderr.trim();
}

/** A Kafka, a Redis and a ClickHouse of one's own (infra/local), in a folder that goes with them. */
export async function startServices(): Promise<Services> {
  const dir = join(PROJECT_ROOT, '.cache/services', `distributed-${randomUUID().slice(0, 8)}`);
  const { stdout } = await run(process.execPath, [PROGRAM, 'up', '--dir', dir]);
  const env = Object.fromEntries([...stdout.matchAll(/^export (\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]));
  const service = (name: ServiceName, variable: string) => openService(name, env[variable] ?? '', dir);
  return {
    kafka: service('kafka', 'KAFKA_BROKERS'),
    redis: service('redis', 'REDIS_URL'),
    clickhouse: service('clickhouse', 'CLICKHOUSE_URL'),
    env,
    async close() {
      await run(process.execPath, [PROGRAM, 'down', '--dir', dir, '--wipe']);
    },
  };
}

/** What tells infra/local where a service listens: it outlives a wipe. */
const KEPT = ['port', 'controller-port', 'log'];

function openService(name: ServiceName, address: string, dir: string): Service {
  const folder = join(dir, name);
  const pid = (): number => Number(readFileSync(join(folder, 'pid'), 'utf8'));
  const wipe = (): void => {
    for (const entry of storedIn(folder)) rmSync(join(folder, entry), { recursive: true });
  };
  return {
    address,
    folder,
    signal: (signal) => void process.kill(pid(), signal),
    async kill9() {
      const dying = pid();
      process.kill(dying, 'SIGKILL');
      await eventually(`${name} to be dead`, () => isDead(dying));
    },
    async up() {
      const { stdout } = await run(process.execPath, [PROGRAM, 'up', '--only', name, '--dir', dir]);
      if (!stdout.trimEnd().endsWith(`=${address}`)) throw new Error(`${name} came back somewhere else`);
    },
    wipe,
    copy() {
      const kept = join(dir, `${name}-copy-${randomUUID().slice(0, 8)}`);
      for (const entry of storedIn(folder)) cpSync(join(folder, entry), join(kept, entry), { recursive: true });
      return () => {
        wipe();
        for (const entry of readdirSync(kept)) cpSync(join(kept, entry), join(folder, entry), { recursive: true });
      };
    },
  };
}

const storedIn = (folder: string): readonly string[] =>
  readdirSync(folder).filter((entry) => !KEPT.includes(entry) && entry !== 'pid');

/** A zombie has ended, but its parent has not waited for it; its command line is empty. */
function isDead(pid: number): boolean {
  return !existsSync(`/proc/${pid}/cmdline`) || readFileSync(`/proc/${pid}/cmdline`, 'utf8') === '';
}
