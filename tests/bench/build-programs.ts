import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { realLogFile } from '@weir/testkit/sample-access-log';
import { bareEnv, PROJECT_ROOT, startFlags } from '@weir/testkit/weir-process';
import { build, type Plugin } from 'esbuild';

/**
 * The measured programs, bundled: those of `npm start` (scripts/build.mjs), those of the benchmark, and the rivals (other servers, for
 * comparison). Each runs in its own process.
 */
export interface Programs {
  /** Runs a program of `programs/` to its end, and returns the JSON that it prints. */
  measure<T>(name: string, task: object): Promise<T>;
  /** Runs `weir` or another program to its end, and discards its output. Rejects if it fails. */
  run(name: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<void>;
  /** Starts `main`, `weir`, or a server program of `programs/` or `rivals/`. The caller can read its CPU time. */
  start(name: string, args: readonly string[], env: Readonly<Record<string, string>>): RunningProgram;
  path(name: string): string;
  /** Creates a folder that `close` deletes. */
  newFolder(): string;
  close(): void;
}

export interface RunningProgram {
  readonly pid: number;
  /** Resolves when the standard output of the program matches. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>;
  /**
   * The CPU time that the process has used so far, in microseconds: user and system time of all threads, without child
   * processes.
   */
  cpuMicros(): Promise<number>;
  stop(): Promise<void>;
}

/** The folders with the benchmark's programs. `isProgram`: whether a file of the folder is built as a program. */
const OWN = [
  { folder: join(PROJECT_ROOT, 'tests/bench/programs'), isProgram: () => true },
  { folder: join(PROJECT_ROOT, 'tests/bench/rivals'), isProgram: (file: string) => file.endsWith('-rival.ts') },
] as const;

/** Packages from npm are not bundled into the benchmark's programs. (The bundles of scripts/build.mjs contain their packages.) */
const externalPackages: Plugin = {
  name: 'external-packages',
  setup(plugin) {
    plugin.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@weir/') ? undefined : { path, external: true },
    );
  },
};

/** Builds all programs. `profileDir`: the folder in which each process writes a CPU profile. */
export async function buildPrograms(profileDir: string | undefined): Promise<Programs> {
  const prepared = spawnSync(process.execPath, ['scripts/prepare.mjs', 'test'], {
    cwd: PROJECT_ROOT,
    stdio: ['ignore', 2, 2],
  });
  if (prepared.status !== 0) throw new Error('scripts/prepare.mjs failed');
  // The programs are copied, so that a later build does not change the measured code. The copy is inside the project, otherwise it would not find
  // its packages.
  const cache = join(PROJECT_ROOT, '.cache');
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, 'bench-'));
  cpSync(join(PROJECT_ROOT, 'dist'), outdir, { recursive: true });
  await build({
    entryPoints: OWN.flatMap(({ folder, isProgram }) =>
      readdirSync(folder)
        .filter(isProgram)
        .map((file) => join(folder, file)),
    ),
    outdir,
    entryNames: '[name]',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    plugins: [externalPackages],
    logLevel: 'warning',
  });
  const folders: string[] = [];
  const running = new Set<ChildProcess>();
  const path = (name: string): string => join(outdir, `${name}.js`);
  const profile = profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];

  const launch = (name: string, nodeArgs: readonly string[], args: readonly string[], env = {}): ChildProcess => {
    const named = profileDir === undefined ? [] : [`--cpu-prof-name=${basename(name)}-${Date.now()}.cpuprofile`];
    const child = spawn(process.execPath, [...profile, ...named, ...nodeArgs, path(name), ...args], {
      cwd: PROJECT_ROOT,
      env: bareEnv(env),
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    return child;
  };

  return {
    path,
    async measure<T>(name: string, task: object) {
      const env = { WEIR_TEST_ACCESS_LOG: realLogFile() ?? '' };
      const child = launch(name, [...startFlags(), '--expose-gc'], [JSON.stringify(task)], env);
      const printed = collect(child);
      const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
      if (code !== 0) throw new Error(`${name} ended with ${code}`);
      return JSON.parse(printed()) as T;
    },
    async run(name, args, env) {
      const child = launch(name, [], args, env);
      child.stdout?.resume();
      const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
      if (code !== 0) throw new Error(`${name} ${args.join(' ')} ended with ${code}`);
    },
    start(name, args, env) {
      const child = launch(name, [...startFlags(), '--import', path('cpu-probe')], args, {
        LOG_LEVEL: 'error',
        ...env,
      });
      return runningProgram(name, child);
    },
    newFolder() {
      const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
      folders.push(folder);
      return folder;
    },
    close() {
      for (const child of running) child.kill('SIGKILL');
      for (const folder of [...folders, outdir]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function collect(child: ChildProcess): () => string {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}

function runningProgram(name: string, child: ChildProcess): RunningProgram {
  const output = collect(child);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const asked: ((micros: number) => void)[] = [];
  child.on('message', (micros: number) => asked.shift()?.(micros));
  return {
    pid: child.pid ?? 0,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = output().match(pattern);
          if (match !== null) resolve(match);
        };
        look();
        child.stdout?.on('data', look);
        child.once('exit', (code) => reject(new Error(`${name} ended with ${code} before it printed ${pattern}`)));
      }),
    cpuMicros: () =>
      new Promise((resolve) => {
        asked.push(resolve);
        child.send('cpu');
      }),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
