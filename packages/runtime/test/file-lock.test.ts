import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFile } from '../src/native/file-lock.ts';

test('a lock that another holder keeps is given up, also if the system clock is set back meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-lock-'));
  const path = join(folder, 'lock');
  const held = await lockFile(path, 0);
  const clock = jest.spyOn(Date, 'now').mockReturnValue(0);
  try {
    expect(held).toBeDefined();
    expect(await lockFile(path, 100)).toBeUndefined();
  } finally {
    clock.mockRestore();
    held?.close();
    rmSync(folder, { recursive: true });
  }
}, 20_000);
