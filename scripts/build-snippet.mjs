// Builds the browser snippet into dist/public/. The build prints the sizes. With CI=true, it fails if a size exceeds its limit.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { minify } from 'terser';

export const SNIPPET_FILES = [
  {
    entry: 'core-script.ts',
    file: 'weir.core.js',
    holds: 'pageviews, SPA, track, identify, queue',
    gzipBytesMax: 1600,
  },
  { entry: 'script.ts', file: 'weir.js', holds: 'everything', gzipBytesMax: 2400 },
  { entry: 'create-weir.ts', file: 'weir.mjs', holds: 'everything, as a module', gzipBytesMax: 2400 },
  { entry: 'stub-script.ts', file: 'weir-stub.js', holds: 'calls before the script', gzipBytesMax: 300 },
];

/** Writes all forms of the snippet and the demo pages, and returns the sizes. */
export async function buildSnippet(root, publicDir = join(root, 'dist/public')) {
  mkdirSync(publicDir, { recursive: true });
  const sizes = [];
  for (const { entry, file, holds, gzipBytesMax } of SNIPPET_FILES) {
    const code = Buffer.from(await bundle(join(root, 'packages/snippet/src', entry), file.endsWith('.mjs')));
    writeFileSync(join(publicDir, file), code);
    sizes.push({ file, holds, bytes: code.length, gzipBytes: gzipBytesOf(code), gzipBytesMax });
  }
  cpSync(join(root, 'packages/snippet/demo'), join(publicDir, 'demo'), { recursive: true });
  return sizes;
}

/**
 * The size after gzip: the larger result of Node's zlib, which Weir uses, and of `gzip -9`. They differ by up to 20 bytes in
 * either direction.
 */
function gzipBytesOf(code) {
  const { error, status, stdout } = spawnSync('gzip', ['-9'], { input: code });
  const byGzip = error === undefined && status === 0 ? stdout.length : 0;
  return Math.max(gzipSync(code, { level: 9 }).length, byGzip);
}

/**
 * esbuild joins the files. terser then makes the result another 4 % smaller. A script becomes a block, which needs fewer bytes than a function that is
 * called at once.
 */
async function bundle(entry, isModule) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    minifySyntax: true,
    target: 'es2017',
    tsconfigRaw: { compilerOptions: {} },
    logLevel: 'warning',
  });
  // esbuild declares the constants of a file with `var`, which would be globals of the page also inside a block.
  const { code } = await minify(outputFiles[0].text.replace(/^var /gm, 'let '), {
    ecma: 2017,
    module: isModule,
    toplevel: true,
    compress: {
      passes: 3,
      inline: 1,
      unsafe: true,
      unsafe_arrows: true,
      pure_getters: true,
      keep_fargs: false,
      hoist_funs: true,
    },
  });
  return isModule ? code : `{${code}}`;
}

export function printSizes(sizes) {
  for (const { file, holds, bytes, gzipBytes, gzipBytesMax } of sizes) {
    console.error(`${file}: ${gzipBytes} bytes gzip (at most ${gzipBytesMax}), ${bytes} plain: ${holds}`);
  }
  const over = sizes.filter(({ gzipBytes, gzipBytesMax }) => gzipBytes > gzipBytesMax);
  // Another version of zlib may give a size that differs by some bytes. That must not prevent the start of Weir, so the build enforces the
  // limits only with CI=true.
  if (over.length > 0 && process.env.CI === 'true')
    throw new Error(`over the size budget: ${over.map(({ file }) => file).join(', ')}`);
}
