// Builds the dashboard into dist/dashboard/: index.html, and assets with hashed names. Each text file also has a variant that is
// compressed with gzip and one with Brotli, so that control compresses nothing when it serves them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** The limit of what a browser loads before the first page is complete: HTML, CSS and JavaScript, compressed with gzip. */
const FIRST_LOAD_GZIP_BYTES_MAX = 200 * 1024;
const COMPRESSIBLE = /\.(?:html|js|css|json|svg)$/;

/** Writes the dashboard and returns the size of the first load. */
export async function buildDashboard(root, outDir = join(root, 'dist/dashboard')) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: 'packages/dashboard/src/main.tsx' },
    outdir: outDir,
    bundle: true,
    write: false,
    metafile: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    jsx: 'automatic',
    minify: true,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.json': 'file' },
    assetNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    entryNames: 'assets/[name]-[hash]',
    publicPath: '/dashboard',
    logLevel: 'warning',
  });
  const outputs = metafile.outputs;
  const entry = Object.keys(outputs).find((name) => outputs[name].entryPoint?.endsWith('/main.tsx'));
  const scripts = [...staticImports(outputs, entry)];
  const style = outputs[entry].cssBundle;
  const url = (name) => `/dashboard/assets/${basename(name)}`;
  const html = readFileSync(join(root, 'packages/dashboard/src/index.html'), 'utf8').replace(
    '<!-- assets -->',
    [
      `<link rel="stylesheet" href="${url(style)}">`,
      ...scripts.slice(1).map((name) => `<link rel="modulepreload" href="${url(name)}">`),
      `<script type="module" src="${url(entry)}"></script>`,
    ].join('\n    '),
  );
  const files = new Map(outputFiles.map(({ path, contents }) => [path, Buffer.from(contents)]));
  files.set(join(outDir, 'index.html'), Buffer.from(html));

  const first = new Set(['index.html', ...[style, ...scripts].map((name) => basename(name))]);
  const size = { file: 'dashboard', holds: 'the first load', bytes: 0, gzipBytes: 0 };
  for (const [path, content] of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (!COMPRESSIBLE.test(path)) continue;
    const gzip = gzipSync(content, { level: 9 });
    writeFileSync(`${path}.gz`, gzip);
    // Quality 11 is 5 % smaller than 9, but takes ten times longer, which delays the first start of Weir.
    writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
    if (!first.has(basename(path))) continue;
    size.bytes += content.length;
    size.gzipBytes += gzip.length;
  }
  return { ...size, gzipBytesMax: FIRST_LOAD_GZIP_BYTES_MAX };
}

/** The names of the output file and of all files that it imports statically, itself first. */
function staticImports(outputs, name, found = new Set()) {
  found.add(name);
  for (const { path, kind, external } of outputs[name].imports) {
    if (kind === 'import-statement' && !external && !found.has(path)) staticImports(outputs, path, found);
  }
  return found;
}
