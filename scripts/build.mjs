// Writes dist/: the programs of Weir, the browser snippet, the dashboard, and the packages that can be published. The programs are bundled
// with their npm packages, because a few files load faster than a thousand files.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildDashboard } from './build-dashboard.mjs';
import { buildPackages } from './build-packages.mjs';
import { buildSnippet, printSizes } from './build-snippet.mjs';
import { serverBundle } from './server-bundle.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

rmSync(join(root, 'dist'), { recursive: true, force: true });
await build(serverBundle(root, 'dist'));
printSizes([...(await buildSnippet(root)), await buildDashboard(root)]);
buildPackages(root);
