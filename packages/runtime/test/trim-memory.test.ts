import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const onLinux = process.platform === 'linux' || process.env.CI === 'true' ? test : test.skip;

/**
 * Runs in a process of its own, because the memory of Jest changes at the same time. It trims until 100 MB of anonymous memory are returned: V8 frees
 * buffers in another thread after a collection, so the first trim may find them still allocated.
 */
const PROGRAM = `
import { readFileSync } from 'node:fs';
import { trimMemory } from '@weir/runtime/native/trim-memory';
import { eventually } from '@weir/testkit/eventually';
const anonymous = () => Number(/^RssAnon:\\s*(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
// Buffers of this size are in the heap of the C library. One in 100 is kept, so that its end does not become free.
let all = Array.from({ length: 4000 }, () => Buffer.alloc(50_000, 1));
const kept = all.filter((_, nth) => nth % 100 === 99);
all = undefined;
const before = anonymous();
gc();
await eventually('100 MB are returned', async () => {
  await trimMemory();
  return before - anonymous() > 100_000_000;
}, 30_000);
console.log('returned, with', kept.length, 'buffers kept');
`;

onLinux('returns memory that JavaScript has freed, but that the C library keeps', async () => {
  const child = promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--import', 'tsx', '--input-type=module', '-e', PROGRAM],
    { cwd: import.meta.dirname },
  );
  await expect(child).resolves.toMatchObject({ stdout: 'returned, with 40 buffers kept\n' });
});
