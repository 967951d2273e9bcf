import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@weir/testkit/eventually';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';

const PROGRAM = join(PROJECT_ROOT, 'infra/local/services.mjs');
const run = promisify(execFile);

export type ServiceName = 'kafka' | 'redis' | 'clickhouse';

/** One real service on loopback. Tests stop or kill it. After a restart, it has the same address. */
export interface Service {
  readonly address: string;
  /** The folder with the stored data and the log file of the service. */
  readonly folder: string;
  /** Stops the process. Resolves when it is stopped: on a busy machine, it can go on for a moment after the signal. */
  pause(): Promise<void>;
  /** Continues a stopped process. */
  resume(): void;
  /** Resolves when the process has ended. Before that, a killed broker could still accept records. */
  kill9(): Promise<void>;
  /** Starts the service again with its stored data. Resolves when it answers. */
  up(): Promise<void>;
  /** Deletes the stored data. The service must be down. */
  wipe(): void;
  /** Copies the stored data, and returns a function that restores this copy. For both, the service must be down. */
  copy(): () => void;
}

/** The engines of a deployment. */
export interface Engines {
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

type Started<Name extends ServiceName> = Engines & Readonly<Record<Name, Service>>;
export type Services = Started<ServiceName>;

/**
 * Why the services are not available on this machine; `undefined` if they are. With CI=true, always `undefined`, because `startServices` then
 * installs missing services.
 */
export function servicesProblem(): string | undefined {
  if (process.env.CI === 'true') return undefined;
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'check'], { encoding: 'utf8' });
  return status === 0 ? undefined : stderr.trim();
}

/** The port of a broker, and the port that the broker tells its clients, such as that of a proxy. */
interface KafkaPorts {
  readonly port: number;
  readonly advertised: number;
}

const VARIABLES: Readonly<Record<ServiceName, string>> = {
  kafka: 'KAFKA_BROKERS',
  redis: 'REDIS_URL',
  clickhouse: 'CLICKHOUSE_URL',
};

export function startServices(kafkaPorts?: KafkaPorts): Promise<Services> {
  return startSome(['kafka', 'redis', 'clickhouse'], kafkaPorts);
}

/** Starts these services (infra/local) in a new folder below `.cache/services`. `close` stops them and deletes their data. */
export async function startSome<Name extends ServiceName>(
  names: readonly Name[],
  kafkaPorts?: KafkaPorts,
): Promise<Started<Name>> {
  const dir = join(PROJECT_ROOT, '.cache/services', `distributed-${randomUUID().slice(0, 8)}`);
  if (kafkaPorts !== undefined) {
    mkdirSync(join(dir, 'kafka'), { recursive: true });
    writeFileSync(join(dir, 'kafka/port'), String(kafkaPorts.port));
    writeFileSync(join(dir, 'kafka/advertised-port'), String(kafkaPorts.advertised));
  }
  const { stdout } = await run(process.execPath, [PROGRAM, 'up', '--only', names.join(','), '--dir', dir]);
  const env = Object.fromEntries([...stdout.matchAll(/^export (\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]));
  const services = names.map((name) => [name, openService(name, env[VARIABLES[name]] ?? '', dir)] as const);
  return {
    ...(Object.fromEntries(services) as Record<Name, Service>),
    env,
    async close() {
      await run(process.execPath, [PROGRAM, 'down', '--dir', dir, '--wipe']);
    },
  };
}

/** Files that `wipe` keeps: the log file, and the ports. With the ports, infra/local starts the service again at the same address. */
const KEPT = ['port', 'controller-port', 'advertised-port', 'log'];

function openService(name: ServiceName, address: string, dir: string): Service {
  const folder = join(dir, name);
  const pid = (): number => Number(readFileSync(join(folder, 'pid'), 'utf8'));
  const wipe = (): void => {
    for (const entry of storedIn(folder)) rmSync(join(folder, entry), { recursive: true });
  };
  return {
    address,
    folder,
    async pause() {
      const running = pid();
      process.kill(running, 'SIGSTOP');
      await eventually(`${name} to be stopped`, () => isStopped(running));
    },
    resume: () => void process.kill(pid(), 'SIGCONT'),
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

/** Whether a process has ended. A zombie counts as ended: its parent has not waited for it, and its command line is empty. */
function isDead(pid: number): boolean {
  return !existsSync(`/proc/${pid}/cmdline`) || readFileSync(`/proc/${pid}/cmdline`, 'utf8') === '';
}

/** Whether all threads of a process are stopped. */
function isStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8').includes('State:\tT'),
  );
}
