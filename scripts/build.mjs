// Bundles the programs of Weir into dist/. Packages from npm stay outside: they are in node_modules anyway, some are native.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildSnippet, printSizes } from './build-snippet.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** npm packages are external; our own workspaces (@weir/*) are bundled. */
const externalPackages = {
  name: 'external-packages',
  setup(plugin) {
    plugin.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@weir/') ? undefined : { path, external: true },
    );
  },
};

rmSync(join(root, 'dist'), { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: {
    main: 'services/host/src/main.ts',
    weir: 'services/cli/src/main.ts',
    'clickhouse-server': 'packages/embedded-clickhouse/src/server.ts',
  },
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'linked',
  banner: { js: '#!/usr/bin/env node' },
  plugins: [externalPackages],
  logLevel: 'warning',
});
printSizes(await buildSnippet(root));
