// Prints `-w <folder>` for every workspace that an image needs: all except the workspace of chDB and those that only tests use. With the
// argument `runtime`, the dashboard is left out too: its libraries are in the built files.
import { existsSync, readdirSync } from 'node:fs';

const LEFT_OUT = [
  ...['packages/embedded-clickhouse', 'packages/testkit'],
  ...(process.argv[2] === 'runtime' ? ['packages/dashboard'] : []),
];

const folders = ['packages', 'services']
  .flatMap((parent) => readdirSync(parent).map((name) => `${parent}/${name}`))
  .filter((folder) => existsSync(`${folder}/package.json`) && !LEFT_OUT.includes(folder))
  .sort();
process.stdout.write(folders.map((folder) => `-w ${folder}`).join(' '));
