import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogTable } from '@weir/ports/event-log';
import { openFileTable } from '../../src/registry/file-table.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-table-'));
  path = join(folder, 'salts.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const rowsOf = async () => [...(await openFileTable(path)).open().entries()];

describe('a table in one file', () => {
  test('rows remain after reopening, in the order of their last put', async () => {
    const table = (await openFileTable(path)).open();
    await Promise.all([table.put('a', '1'), table.put('b', 'ü'), table.put('a', '2'), table.put('c', '3')]);
    await table.put('c', undefined);
    expect([...table.entries()]).toEqual([
      ['b', 'ü'],
      ['a', '2'],
    ]);
    expect(await rowsOf()).toEqual([...table.entries()]);
    expect(readdirSync(folder)).toEqual(['salts.json']);
  });

  test('the bytes of a removed row are in no file, and the previous file is overwritten', async () => {
    const table = (await openFileTable(path)).open();
    await table.put('kept', 'kept-salt');
    await table.put('old', 'old-salt');
    const before = join(folder, 'a-name-that-outlives-it');
    linkSync(path, before);
    expect(readFileSync(before, 'utf8')).toContain('old-salt');
    await table.put('old', undefined);
    expect(readFileSync(path, 'utf8')).toContain('kept-salt');
    expect(readFileSync(path, 'utf8')).not.toContain('old-salt');
    expect(readFileSync(before).every((byte) => byte === 0)).toBe(true);
  });

  test.each([
    ['the next opening', async () => void (await rowsOf())],
    ['the next put', async (table: LogTable) => table.put('a', '1')],
  ])('files that a crash left behind are overwritten and removed at %s', async (_when, next) => {
    const table = (await openFileTable(path)).open();
    await table.put('a', '1');
    const names = ['new', 'old'].map((name) => {
      writeFileSync(`${path}.${name}`, '[["a","1"],["b","a secret');
      linkSync(`${path}.${name}`, `${path}.kept.${name}`);
      return `${path}.kept.${name}`;
    });
    await next(table);
    expect(await rowsOf()).toEqual([['a', '1']]);
    for (const name of names) {
      expect(readFileSync(name).every((byte) => byte === 0)).toBe(true);
      rmSync(name);
    }
    expect(readdirSync(folder)).toEqual(['salts.json']);
  });

  test('a table keeps its rows if a crash left its file with two names', async () => {
    const table = (await openFileTable(path)).open();
    await table.put('a', '1');
    linkSync(path, `${path}.old`);
    expect(await rowsOf()).toEqual([['a', '1']]);
    expect(readdirSync(folder)).toEqual(['salts.json']);
  });

  test('a put that cannot be written rejects and changes nothing', async () => {
    const table = (await openFileTable(path)).open();
    await table.put('a', '1');
    rmSync(folder, { recursive: true });
    await expect(table.put('b', '2')).rejects.toMatchObject({ code: 'event_log_unavailable' });
    expect([...table.entries()]).toEqual([['a', '1']]);
    folder = mkdtempSync(join(tmpdir(), 'weir-table-'));
  });

  test('a row is applied when the new file has it, also if the old bytes could not be overwritten', async () => {
    const table = (await openFileTable(path)).open();
    rmSync(path, { force: true });
    // The file of the table is a link to /dev/full. This device does not support sync, so overwriting the old bytes fails.
    symlinkSync('/dev/full', path);
    await expect(table.put('a', '1')).rejects.toMatchObject({ code: 'event_log_unavailable' });
    // The old file still exists under a second name. Opening the table again tries to overwrite it, and fails too.
    await expect(rowsOf()).rejects.toMatchObject({ code: 'event_log_unavailable' });
    rmSync(`${path}.old`);
    expect([...table.entries()]).toEqual(await rowsOf());
    expect([...table.entries()]).toEqual([['a', '1']]);
  });

  test('opening rejects if the file cannot be read', async () => {
    writeFileSync(path, 'not json');
    await expect(openFileTable(path)).rejects.toMatchObject({ code: 'event_log_unavailable' });
  });
});
