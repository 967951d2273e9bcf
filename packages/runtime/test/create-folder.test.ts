import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFolder } from '../src/disk/create-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-create-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('missing folders are created with the mode, and existing ones stay as they are', async () => {
  const path = join(folder, 'a', 'b', 'c');
  await createFolder(path, 0o700);
  await createFolder(path, 0o755);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
  await createFolder('/');
});

test('several calls can create the same folders at the same moment', async () => {
  const names = Array.from({ length: 20 }, (_, n) => join(folder, 'a', 'b', 'c', String(n % 2), String(n)));
  await Promise.all(names.map((name) => createFolder(name)));
  expect(names.every((name) => existsSync(name))).toBe(true);
});

test('a file in place of a folder, or a link to nothing, is an error', async () => {
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'missing'), join(folder, 'link'));
  await expect(createFolder(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST', syscall: 'mkdir' });
  await expect(createFolder(join(folder, 'file', 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(createFolder(join(folder, 'link', 'a'))).rejects.toMatchObject({ code: 'EEXIST' });
});

test('a file system that allows no new folders is an error', async () => {
  await expect(createFolder('/proc/weir/a')).rejects.toMatchObject({
    code: 'ENOENT',
    syscall: 'mkdir',
    message: 'cannot create the folder /proc/weir: the file system of /proc allows no new folders',
  });
});
