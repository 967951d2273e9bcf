import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { sendHttp } from './http-client.ts';
import { createWeirClient, type WeirClient } from './weir-client.ts';

export const PROJECT_ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
export const TEST_ADMIN_TOKEN = 'test-admin-token-0123456789';
const MAIN = join(PROJECT_ROOT, 'dist/main.js');
const READY_WITHIN_MS = 180_000;
const STOP_WITHIN_MS = 90_000;

export interface WeirOptions {
  readonly roles?: readonly string[];
  /** Variables added to an environment that has only what Node needs. An empty text removes a variable that this file sets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a new folder, which `stop` removes. A given folder is kept. */
  readonly dataDir?: string;
  /** The path of the bundled program. Default: `dist/main.js`. */
  readonly program?: string;
}

/** One Weir process group, started as `npm start` does, and its output. */
export interface WeirProcess {
  readonly url: string;
  readonly dataDir: string;
  readonly client: WeirClient;
  /** The output of all starts so far, standard output and standard error. */
  output(): string;
  /** Sends SIGTERM. Resolves with the exit code when the process has ended. */
  terminate(): Promise<number | null>;
  /** Sends SIGTERM, then removes the folder. Rejects if the exit code is not 0. */
  stop(): Promise<void>;
  /** Sends SIGKILL to the whole group. Resolves when Weir's main process has ended. */
  kill9(): Promise<void>;
  /** Sends a signal to Weir's main process only, not to its child processes. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2' | 'SIGKILL'): void;
  /** The process ID of Weir's main process. */
  pid(): number;
  /** Resolves with the exit code when Weir's main process has ended; `null` if a signal ended it. */
  ended(): Promise<number | null>;
  /** The process ID of the ClickHouse child process. */
  clickhousePid(): number;
  /** The process IDs of the gateway processes that run. Empty if the main process is the gateway. */
  gatewayPids(): readonly number[];
  /** Sends SIGKILL to the ClickHouse child process only. */
  killClickhouse(): void;
  /**
   * Starts Weir again with the same folder and port. Resolves with the milliseconds until it was ready. `program`: the path of another program, such
   * as that of another version. This start and later starts then use this program.
   */
  restart(program?: string): Promise<number>;
}

export async function startWeir(options: WeirOptions = {}): Promise<WeirProcess> {
  const port = Number(options.env?.PORT ?? (await freePort()));
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'weir-test-'));
  const url = `http://127.0.0.1:${port}`;
  // On a busy machine, Weir can need more than the default of 20 s to end.
  const env: Record<string, string> = {
    WEIR_ADMIN_TOKEN: TEST_ADMIN_TOKEN,
    WEIR_DRAIN_TIMEOUT_MS: '40000',
    ...options.env,
  };
  const printed: Buffer[] = [];
  let program = options.program ?? MAIN;
  let child: ChildProcess;

  const start = async (other = program): Promise<number> => {
    const startedAt = performance.now();
    program = other;
    child = spawnWeir(program, options.roles ?? [], {
      ...env,
      PORT: String(port),
      WEIR_DATA_DIR: dataDir,
    });
    child.stdout?.on('data', (chunk: Buffer) => printed.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => printed.push(chunk));
    const output = (): string => Buffer.concat(printed).toString();
    await eventually(
      'Weir to be ready',
      async () => {
        if (ended(child)) return true;
        return (await sendHttp(url, { path: '/readyz', timeoutMs: 2_000 })).status === 200;
      },
      READY_WITHIN_MS,
    ).catch((error: unknown) => {
      killGroup(child);
      throw new Error(`Weir was not ready:\n${output().slice(-4_000)}`, { cause: error });
    });
    if (ended(child)) throw new Error(`Weir ended at its start (${child.exitCode}):\n${output().slice(-4_000)}`);
    return performance.now() - startedAt;
  };
  const gone = async (): Promise<number | null> => {
    if (!ended(child)) await new Promise((resolve) => child.once('exit', resolve));
    return child.exitCode;
  };

  await start();
  const weir: WeirProcess = {
    url,
    dataDir,
    client: createWeirClient([url], env.WEIR_ADMIN_TOKEN || TEST_ADMIN_TOKEN, Boolean(env.KAFKA_BROKERS)),
    output: () => Buffer.concat(printed).toString(),
    async terminate() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => killGroup(child), STOP_WITHIN_MS);
      const code = await gone();
      clearTimeout(timer);
      killGroup(child);
      return code;
    },
    async stop() {
      const code = ended(child) ? 0 : await weir.terminate();
      killGroup(child);
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
      if (code !== 0) throw new Error(`Weir ended with ${code} on SIGTERM:\n${weir.output().slice(-4_000)}`);
    },
    async kill9() {
      killGroup(child);
      await gone();
    },
    signal: (signal) => void child.kill(signal),
    pid: () => child.pid ?? 0,
    ended: gone,
    clickhousePid: () => clickhousePid(child.pid ?? 0),
    gatewayPids: () => childPids(child.pid ?? 0, /gateway-process\.js/),
    killClickhouse: () => void process.kill(weir.clickhousePid(), 'SIGKILL'),
    restart: start,
  };
  return weir;
}

export interface EndedRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `node dist/<program>` to its end, in an environment that has only what Node needs. */
export function runProgram(
  program: 'main.js' | 'weir.js',
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input?: string | Buffer,
): Promise<EndedRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(PROJECT_ROOT, 'dist', program), ...args], { env: bareEnv(env) });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    );
    // Some programs end before they have read all input. This is not an error of the test: the exit code says what happened.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

type Target = Pick<WeirClient, 'urls' | 'adminToken'>;

/** The environment variables with which `weir` uses the Weir of a client. */
export function commandEnv({ urls, adminToken }: Target): Readonly<Record<'WEIR_URL' | 'WEIR_ADMIN_TOKEN', string>> {
  return { WEIR_URL: urls[0] ?? '', WEIR_ADMIN_TOKEN: adminToken };
}

/** Runs `weir` with these arguments for the Weir of a client. */
export function runWeir(client: Target, args: readonly string[], input?: string | Buffer): Promise<EndedRun> {
  return runProgram('weir.js', args, commandEnv(client), input);
}

/** Does the same, and rejects if the exit code is not 0. Resolves with the standard output. */
export async function mustRunWeir(client: Target, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runWeir(client, args);
  if (code !== 0) throw new Error(`weir ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

/** Adds only the variables that Node needs to `env`, so that settings of the machine cannot change the result of a test. */
export function bareEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = '', HOME = tmpdir() } = process.env;
  return { PATH, HOME, ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')) };
}

/** The options that `npm start` passes to Node. They are defined only in package.json. */
export function startFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  const words = scripts.start.split(' ');
  return words.slice(words.lastIndexOf('node') + 1, -1);
}

function spawnWeir(program: string, roles: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  if (!existsSync(program)) throw new Error(`${program} is missing: run \`node scripts/prepare.mjs\` first`);
  return spawn(process.execPath, [...startFlags(), program, ...roles], {
    cwd: PROJECT_ROOT,
    env: bareEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
}

function ended(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

export function killGroup(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The children of a process whose command line matches. */
function childPids(parent: number, command: RegExp): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [, pid, ppid, args = ''] = line.match(/^\s*(\d+)\s+(\d+)\s+(.*)$/) ?? [];
    return Number(ppid) === parent && command.test(args) ? [Number(pid)] : [];
  });
}

function clickhousePid(parent: number): number {
  const [pid] = childPids(parent, /clickhouse|chdb/i);
  if (pid === undefined) throw new Error(`process ${parent} has no ClickHouse child`);
  return pid;
}

/** True if a process has this ID, also if it belongs to another Weir. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
