// node build-failpoints.mjs OUTDIR [MUTATION]: bundles Weir's programs for the fault tests. Three modules of the host are replaced by modules that
// wrap the engines (ARMED). Releases contain `dist/`, which another script builds, so they have no code that could cause a fault.
// MUTATION is the name of an entry of mutations.json. The bundle then contains the changes of this entry. The source files stay unchanged.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { serverBundle } from '../../../scripts/server-bundle.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../..');
const [outdir, mutationName] = process.argv.slice(2);
const MUTATIONS = JSON.parse(readFileSync(join(here, 'mutations.json'), 'utf8'));
const mutation = MUTATIONS.find(({ name }) => name === mutationName);
if (outdir === undefined || (mutationName !== undefined && mutation === undefined)) {
  console.error(`usage: build-failpoints.mjs OUTDIR [${MUTATIONS.map(({ name }) => name).join(' | ')}]`);
  process.exit(2);
}

/** The replaced modules of the host. `importer`: the module in which the import is replaced. `by`: the module that takes its place. */
const ARMED = {
  'open-ports.ts': { importer: join('startup', 'start-weir.ts'), by: 'armed-ports.ts' },
  'open-analytics.ts': { importer: join('startup', 'start-weir.ts'), by: 'armed-analytics.ts' },
  'open-thread-ports.ts': { importer: join('thread', 'pipeline-worker.ts'), by: 'armed-thread-ports.ts' },
};

/** @type {import('esbuild').Plugin} */
const failpoints = {
  name: 'failpoints',
  setup({ onResolve }) {
    onResolve({ filter: /\/ports\/open-(ports|analytics|thread-ports)\.ts$/ }, ({ path, importer }) => {
      const armed = ARMED[basename(path)];
      return importer.endsWith(armed.importer) ? { path: join(here, armed.by) } : undefined;
    });
  },
};

/** @type {import('esbuild').Plugin} */
const mutated = {
  name: 'mutation',
  setup({ onLoad }) {
    if (mutation === undefined) return;
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const edits = mutation.edits.filter(({ file }) => join(root, file) === path);
      if (edits.length === 0) return undefined;
      return { contents: edits.reduce(edited, readFileSync(path, 'utf8')), loader: 'ts', resolveDir: dirname(path) };
    });
  },
};

function edited(text, { file, find, replace }) {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(`${mutation.name}: ${file} contains ${find} ${parts.length - 1} times, not once`);
  return parts.join(replace);
}

const bundle = serverBundle(root, outdir);
await build({ ...bundle, plugins: [mutated, failpoints] });
