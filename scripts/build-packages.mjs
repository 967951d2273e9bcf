// Builds the packages that can be published (the server client, the decoder of records and the browser snippet) as JavaScript with
// types, and writes them to dist/packages/. To use them: `npm install ./dist/packages/node-sdk`, `npm publish dist/packages/snippet`.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TSC = ['--noEmit', 'false', '--rewriteRelativeImportExtensions', '--declaration'];
const both = (name, code = name) => ({ types: `./${name}.d.ts`, default: `./${code}.js` });

/** Writes the packages. Needs the snippet in `dist/public`. */
export function buildPackages(root) {
  const client = join(root, 'dist/packages/node-sdk');
  emitTypes(root, 'packages/node-sdk/tsconfig.json', client, []);
  writeManifest(root, 'node-sdk', client, {
    engines: { node: '>=20' },
    exports: Object.fromEntries([
      ['.', both('weir')],
      ...['event', 'visit', 'express', 'next', 'queue-file'].map((name) => [`./${name}`, both(name)]),
    ]),
  });

  // The package also has the files of packages/domain that it imports. So its files are in the folders `records` and `domain`, as in packages/.
  const records = join(root, 'dist/packages/records');
  rmSync(records, { recursive: true, force: true });
  emitTypes(root, 'packages/records/tsconfig.json', records, []);
  writeManifest(root, 'records', records, { engines: { node: '>=20' }, exports: { '.': both('records/src/records') } });

  const publicDir = join(root, 'dist/public');
  const snippet = join(root, 'dist/packages/snippet');
  emitTypes(root, 'packages/snippet/tsconfig.json', join(snippet, 'types'), ['--emitDeclarationOnly']);
  const scripts = readdirSync(publicDir).filter((name) => /^weir\b.*\.js$/.test(name));
  for (const name of ['weir.mjs', ...scripts]) copyFileSync(join(publicDir, name), join(snippet, name));
  writeManifest(root, 'snippet', snippet, {
    exports: {
      '.': { types: './types/create-weir.d.ts', default: './weir.mjs' },
      './options': { types: './types/options.d.ts' },
      ...Object.fromEntries(scripts.map((name) => [`./${name}`, `./${name}`])),
    },
  });
  // The types of the ES module for browsers.
  writeFileSync(join(publicDir, 'weir.d.mts'), "export * from '../packages/snippet/types/create-weir.js';\n");
}

function emitTypes(root, project, outDir, options) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', project, ...TSC, ...options, '--outDir', outDir], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error(`tsc -p ${project} failed`);
  // In the .d.ts files, tsc keeps the ending .ts of imports. Only newer versions of TypeScript can resolve such an import.
  for (const name of readdirSync(outDir, { recursive: true }).filter((name) => name.endsWith('.d.ts'))) {
    const text = readFileSync(join(outDir, name), 'utf8');
    writeFileSync(join(outDir, name), text.replace(/(from '\.[\w./-]+)\.ts'/g, "$1.js'"));
  }
}

function writeManifest(root, folder, outDir, fields) {
  const { name, version, type } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
  mkdirSync(outDir, { recursive: true });
  const manifest = { name, version, license: 'Apache-2.0', type, ...fields };
  writeFileSync(join(outDir, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  copyFileSync(join(root, 'packages', folder, 'README.md'), join(outDir, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(outDir, 'LICENSE'));
}
