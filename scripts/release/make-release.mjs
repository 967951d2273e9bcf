// Usage: node scripts/release/make-release.mjs [FOLDER]. Writes the files of a release of the present commit to FOLDER (dist/release):
// the source as .tar.gz, the list of the packages that the product needs (SBOM, CycloneDX), and the SHA-256 sums of both.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packagesOf } from './locked-packages.mjs';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

const folder = process.argv[2] ?? 'dist/release';
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const source = `weir-${version}.tar.gz`;
execFileSync('git', [
  'archive',
  '--format=tar.gz',
  `--prefix=weir-${version}/`,
  `--output=${join(folder, source)}`,
  'HEAD',
]);

const sbom = `weir-${version}.cdx.json`;
writeFileSync(join(folder, sbom), `${JSON.stringify(ofProduct(bomOfAll()), null, 2)}\n`);

const sums = [sbom, source].map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
console.log(`${folder}: ${source}, ${sbom}, SHA256SUMS`);

function bomOfAll() {
  const text = execFileSync(
    'npm',
    ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'],
    {
      encoding: 'utf8',
      maxBuffer: OUTPUT_BYTES_MAX,
      stdio: ['ignore', 'pipe', 'inherit'],
      shell: process.platform === 'win32',
    },
  );
  return JSON.parse(text);
}

/**
 * Removes the packages of tests and tools. `npm sbom --omit=dev` cannot do this: it also removes a package such as express,
 * which the root lists only for development, but which a workspace needs for the product.
 */
function ofProduct({ metadata, components, dependencies, ...others }) {
  const needed = new Set(
    packagesOf('package-lock.json')
      .filter(({ isDevelopment }) => !isDevelopment)
      .map(({ name, version: its }) => `${name}@${its}`),
  );
  const root = metadata.component['bom-ref'];
  return {
    ...others,
    // npm uses the name of the folder as the name of this component.
    metadata: { ...metadata, component: { ...metadata.component, name: 'weir' } },
    components: components.filter((one) => needed.has(one['bom-ref'])),
    dependencies: dependencies
      .filter(({ ref }) => needed.has(ref) || ref === root)
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => needed.has(one)) })),
  };
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}
