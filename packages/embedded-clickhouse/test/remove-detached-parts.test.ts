import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { detachedUntil, removeDetachedParts } from '../src/tokens/remove-detached-parts.ts';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

test('names the time of the removal, and removes only parts that a repair or the engine has moved away, after the given time', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-detached-'));
  // The file system rounds the times of files down to some milliseconds, so the test allows for 100 ms.
  const startedAt = Date.now() - 100;
  try {
    const table = join(folder, 'store', 'abc', 'abc-table');
    mkdirSync(join(table, 'deduplication_logs'), { recursive: true });
    const detached = join(table, 'detached');
    for (const part of [
      'unacknowledged_all_1_1_0',
      'unacknowledged_all_2_2_0_try1',
      'broken-on-start_all_3_3_0',
      'moved_by_hand_all_4_4_0',
    ]) {
      mkdirSync(join(detached, part), { recursive: true });
      writeFileSync(join(detached, part, 'data.bin'), 'rows');
    }
    expect(removeDetachedParts(folder, HOUR_MS, Date.now())).toBe(0);
    const until = detachedUntil(folder) ?? 0;
    expect(until - WEEK_MS - HOUR_MS).toBeGreaterThanOrEqual(startedAt);
    expect(until - WEEK_MS - HOUR_MS).toBeLessThanOrEqual(Date.now() + 1);
    expect(removeDetachedParts(folder, HOUR_MS, Date.now() + 2 * HOUR_MS)).toBe(3);
    expect(readdirSync(detached)).toEqual(['moved_by_hand_all_4_4_0']);
    expect(detachedUntil(folder)).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
