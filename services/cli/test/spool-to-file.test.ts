import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readdirSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { readLogBytes } from '@weir/cli/import/read-log-bytes';
import { spoolToFile } from '@weir/cli/import/spool-to-file';
import { eventually } from '@weir/testkit/eventually';

const MAIN = join(__dirname, '../src/weir-main.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-spool-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const spooled = (): string[] => readdirSync(folder).filter((name) => name.startsWith('weir-import-'));

test.each([
  ['SIGINT', false],
  ['SIGTERM', false],
  ['SIGHUP', false],
  ['SIGHUP', true],
  ['SIGKILL', false],
] as const)(
  '%s while a pipe is read leaves no copy of the log behind (standard error is closed: %s)',
  async (signal, isClosed) => {
    const weir = spawn(process.execPath, ['--import', 'tsx', MAIN, 'import', '-', '--site', 'shop'], {
      env: { ...process.env, TMPDIR: folder, WEIR_ADMIN_TOKEN: 'never-sent' },
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    let said = '';
    weir.stderr.on('data', (bytes) => {
      said += String(bytes);
    });
    const ended = once(weir, 'close');
    let isMade = false;
    const changes = watch(folder, (_, name) => {
      isMade ||= name?.startsWith('weir-import-') === true;
    });
    try {
      weir.stdin.write('192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-"\n');
      await eventually('the copy was made, and has no name any more', () => isMade && spooled().length === 0);
      if (isClosed) weir.stderr.destroy();
      weir.kill(signal);
      const isKilled = signal === 'SIGKILL';
      expect(await ended).toEqual(isKilled ? [null, signal] : [130, null]);
      expect(said).toBe(isClosed || isKilled ? '' : 'weir: interrupted before anything was imported\n');
      expect(spooled()).toEqual([]);
    } finally {
      changes.close();
      weir.kill('SIGKILL');
    }
  },
);

test.each(['no program writes', 'a program has not written yet'])(
  'one Ctrl-C ends an import that waits for a named pipe: %s',
  async (state) => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writer = state === 'no program writes' ? undefined : openSync(pipe, constants.O_RDWR);
    let isMade = false;
    const changes = watch(folder, (_, name) => {
      isMade ||= name?.startsWith('weir-import-') === true;
    });
    const weir = spawn(process.execPath, ['--import', 'tsx', MAIN, 'import', pipe, '--site', 'shop'], {
      env: { ...process.env, TMPDIR: folder, WEIR_ADMIN_TOKEN: 'never-sent' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    weir.stderr.on('data', (bytes) => {
      said += String(bytes);
    });
    const ended = once(weir, 'close');
    try {
      await eventually('the import waits for the pipe', () => isMade && spooled().length === 0);
      weir.kill('SIGINT');
      expect(await ended).toEqual([130, null]);
      expect(said).toBe('weir: interrupted before anything was imported\n');
    } finally {
      changes.close();
      weir.kill('SIGKILL');
      if (writer !== undefined) closeSync(writer);
    }
  },
);

test.each([
  ['plain', Buffer.from('192.0.2.1 - a line\n'.repeat(50_000))],
  ['gzip', gzipSync('192.0.2.1 - a line\n'.repeat(50_000))],
])('the copy of a %s log is read as it was sent, twice, and holds nothing of it', async (_, bytes) => {
  const spool = await spoolToFile(
    Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]),
    'standard input',
    new AbortController().signal,
  );
  try {
    for (let time = 0; time < 2; time++) {
      const read: Uint8Array[] = [];
      for await (const chunk of readLogBytes(spool)) read.push(chunk);
      expect(Buffer.concat(read).equals(Buffer.from('192.0.2.1 - a line\n'.repeat(50_000)))).toBe(true);
    }
    const stored = Buffer.alloc((await spool.handle.stat()).size);
    await spool.handle.read(stored, 0, stored.length, 0);
    expect(stored.length).toBe(bytes.length);
    expect(stored.includes('192.0.2.1')).toBe(false);
    expect(stored.includes(bytes.subarray(0, 16))).toBe(false);
  } finally {
    await spool.close();
  }
});

test('a copy that fails is an error that names the setting of its folder', async () => {
  const input = new Readable({ read: () => input.destroy(new Error('EIO: i/o error, read')) });
  await expect(spoolToFile(input, 'standard input', new AbortController().signal)).rejects.toMatchObject({
    name: 'CliError',
    message: expect.stringMatching(
      /^can't copy standard input to a temporary file in .*: EIO: i\/o error, read; .*set TMPDIR/,
    ),
  });
});
