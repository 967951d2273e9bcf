// Completes package-lock.json after `npm install` has changed it: `node scripts/complete-lock.mjs`.
// A partial mirror of the registry may not serve the binaries for other platforms. npm then omits them from the lock file, and
// `npm ci` refuses the file as out of sync. This script adds them again, with the versions that their parent packages pin. npm
// skips the binaries for other platforms when it installs.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OS = ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'sunos', 'aix', 'win32', 'openharmony'];
const CPU = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64', 'mips64el', 'wasm32'];

const file = join(dirname(fileURLToPath(import.meta.url)), '..', 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];

for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (!path.includes('node_modules/') || isLocked(path, name)) continue;
    const version = range.replace(/^[^\d]*/, '');
    const words = name.split(/[^a-z0-9]+/i);
    const os = OS.filter((candidate) => words.includes(candidate));
    const cpu = CPU.filter((candidate) => words.some((word) => word.replace(/^gnueabi(hf)?$/, 'arm') === candidate));
    if (os.length === 0) continue;
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(cpu.length > 0 ? { cpu } : {}),
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
      os,
    };
    added.push(`${name}@${version}`);
  }
}

/** Whether a package that `path` requires is in a node_modules folder of `path` or of one of its parent folders. */
function isLocked(path, name) {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    if (lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`] !== undefined) return true;
    if (at === '') return false;
  }
}

const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`);
console.log(added.length === 0 ? 'the lock file is complete' : `added ${added.length}: ${added.join(' ')}`);
