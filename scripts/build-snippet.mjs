// The browser snippet into dist/public/: what browsers load. Its sizes are a promise: the build prints them, CI fails above.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { minify } from 'terser';

/** Names that no page sees; an option's name is a data attribute and stays. */
const INTERNAL = /^(endpoints|cleanUrl|mode|path|leave|ids|visitor|hit|write|page)$/;

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

/** Writes every form of the snippet and the demo pages; returns the sizes. */
export async function buildSnippet(root, publicDir = join(root, 'dist/public')) {
  mkdirSync(publicDir, { recursive: true });
  const sizes = [];
  for (const { entry, file, holds, gzipBytesMax } of SNIPPET_FILES) {
    const code = Buffer.from(await bundle(join(root, 'packages/snippet/src', entry), file.endsWith('.mjs')));
    writeFileSync(join(publicDir, file), code);
    sizes.push({ file, holds, bytes: code.length, gzipBytes: gzipSync(code, { level: 9 }).length, gzipBytesMax });
  }
  cpSync(join(root, 'packages/snippet/demo'), join(publicDir, 'demo'), { recursive: true });
  return sizes;
}

/** esbuild joins the files; terser takes a further 4 % off. */
async function bundle(entry, isModule) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: isModule ? 'esm' : 'iife',
    minifySyntax: true,
    target: 'es2017',
    mangleProps: INTERNAL,
    tsconfigRaw: { compilerOptions: {} },
    logLevel: 'warning',
  });
  const { code } = await minify(outputFiles[0].text, {
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
  return code;
}

export function printSizes(sizes) {
  for (const { file, holds, bytes, gzipBytes, gzipBytesMax } of sizes) {
    console.error(`${file}: ${gzipBytes} bytes gzip (at most ${gzipBytesMax}), ${bytes} plain: ${holds}`);
  }
  const over = sizes.filter(({ gzipBytes, gzipBytesMax }) => gzipBytes > gzipBytesMax);
  // Another Node's zlib may differ by a byte: that must not keep anyone from starting Weir.
  if (over.length > 0 && process.env.CI === 'true')
    throw new Error(`over the size budget: ${over.map(({ file }) => file).join(', ')}`);
}
