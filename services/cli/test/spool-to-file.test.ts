import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';

const MAIN = join(__dirname, '../src/main.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-spool-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const spooled = (): string[] => readdirSync(folder).filter((name) => name.startsWith('weir-import-'));

test('Ctrl-C while a pipe is read leaves no copy of the log behind', async () => {
  const weir = spawn(process.execPath, ['--import', 'tsx', MAIN, 'import', '-', '--site', 'shop'], {
    env: { ...process.env, TMPDIR: folder, WEIR_ADMIN_TOKEN: 'never-sent' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let said = '';
  weir.stderr.on('data', (bytes) => {
    said += String(bytes);
  });
  const ended = once(weir, 'close');
  try {
    weir.stdin.write('192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-"\n');
    await eventually('the copy is there', () => spooled().length === 1);
    weir.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(said).toBe('weir: interrupted before anything was imported\n');
    expect(spooled()).toEqual([]);
  } finally {
    weir.kill('SIGKILL');
  }
});
