import { readFileSync } from 'node:fs';

/** The packages of a lock file that npm installs from a registry. `isDevelopment`: only tests and tools need the package. */
export function packagesOf(lockFile) {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8'));
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
    .map(([path, { name, version, license, dev, devOptional }]) => ({
      name: name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      licence: license,
      isDevelopment: dev === true || devOptional === true,
    }));
}
