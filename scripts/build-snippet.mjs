// The browser snippet into dist/public/: what browsers load. Its sizes are a promise (issue 6): the build prints them and
// fails above.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

export const SNIPPET_FILES = [{ entry: 'script.ts', file: 'weir.js', holds: 'everything', gzipBytesMax: 2400 }];

export async function buildSnippet(root) {
  const sizes = [];
  for (const { entry, file, holds, gzipBytesMax, format = 'iife' } of SNIPPET_FILES) {
    const outfile = join(root, 'dist/public', file);
    await build({
      absWorkingDir: join(root, 'packages/snippet/src'),
      entryPoints: [entry],
      outfile,
      bundle: true,
      minify: true,
      format,
      target: 'es2017',
      logLevel: 'warning',
    });
    const bytes = readFileSync(outfile);
    const gzipBytes = gzipSync(bytes, { level: 9 }).length;
    sizes.push({ file, holds, bytes: bytes.length, gzipBytes, gzipBytesMax });
  }
  console.error(
    sizes
      .map(
        (size) =>
          `${size.file}: ${size.gzipBytes} of ${size.gzipBytesMax} bytes gzip, ${size.bytes} plain (${size.holds})`,
      )
      .join('\n'),
  );
  const over = sizes.filter((size) => size.gzipBytes > size.gzipBytesMax);
  if (over.length > 0) throw new Error(`over the size budget: ${over.map((size) => size.file).join(', ')}`);
}
