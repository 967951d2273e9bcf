// Usage: node scripts/release/check-dependencies.mjs [--lock FILE] [--audit FILE]
// Checks the licences of all packages of the lock file, and asks the registry for known vulnerabilities of the packages that the product
// needs (`npm audit`). The exit code is 1 for a licence that is not allowed and for a known vulnerability. If the registry does not answer,
// the script says so, and the exit code does not change. `--audit` reads the answer of `npm audit --json` from a file.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { packagesOf } from './locked-packages.mjs';

/** Licences that allow what Weir does with a package: using and distributing it, also in a closed product. */
const ALLOWED = new Set([
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT', 'Unlicense'],
  // A licence of data, which requires that its source is named. The dashboard and the README name it.
  'SEE LICENSE IN DBIP-LICENSE (CC-BY-4.0)',
]);
/** Licences of packages that only tests and tools use, and that are not distributed. */
const ALLOWED_IN_DEVELOPMENT = new Set([...ALLOWED, 'CC-BY-4.0', 'MPL-2.0', 'Python-2.0']);
/** Packages whose entry in the lock file has no licence: builds of another package for one platform. They have the licence of that package. */
const BUILD_OF = [
  [/^@chdb\/lib-/, 'chdb'],
  [/^@msgpackr-extract\//, 'msgpackr-extract'],
  [/^@biomejs\/cli-/, '@biomejs/biome'],
];
const ANSWER_WITHIN_MS = 60_000;

const { values } = parseArgs({ options: { lock: { type: 'string' }, audit: { type: 'string' } } });
const packages = packagesOf(values.lock ?? 'package-lock.json');

const refused = packages.filter((one) => !isAllowed(licenceOf(one), one.isDevelopment));
for (const one of refused) {
  console.error(`${one.name}@${one.version}: the licence ${licenceOf(one) ?? 'is unknown'} is not allowed`);
}
if (refused.length === 0) console.log(`licences: ${packages.length} packages, all allowed`);

const answer = values.audit === undefined ? askRegistry() : readFileSync(values.audit, 'utf8');
const vulnerable = vulnerabilitiesOf(answer);
if (vulnerable === undefined) {
  console.log('vulnerabilities: NOT CHECKED, because the registry does not answer `npm audit`');
} else {
  for (const { name, severity, range } of vulnerable) {
    console.error(`${name} ${range}: a known vulnerability (${severity}). \`npm audit --omit=dev\` says more`);
  }
  if (vulnerable.length === 0) console.log('vulnerabilities: none known in the packages of the product');
}
process.exit(refused.length > 0 || (vulnerable?.length ?? 0) > 0 ? 1 : 0);

function licenceOf({ name, licence }) {
  const other = BUILD_OF.find(([pattern]) => pattern.test(name))?.[1];
  if (licence !== undefined || other === undefined) return licence;
  return packages.find((one) => one.name === other)?.licence;
}

/** Whether the SPDX expression allows the use. Weir can choose one side of OR, and must follow both sides of AND. */
function isAllowed(licence, isDevelopment) {
  const allowed = isDevelopment ? ALLOWED_IN_DEVELOPMENT : ALLOWED;
  if (licence === undefined) return isDevelopment;
  if (allowed.has(licence)) return true;
  const choices = licence.replace(/^\(|\)$/g, '').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((one) => allowed.has(one)));
}

function askRegistry() {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--package-lock-only', '--json'], {
    encoding: 'utf8',
    timeout: ANSWER_WITHIN_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  });
  return stdout ?? '';
}

/** Undefined if the answer is not a report, for example because the registry could not be reached. */
function vulnerabilitiesOf(text) {
  try {
    const report = JSON.parse(text);
    if (report.metadata?.vulnerabilities === undefined || report.vulnerabilities === undefined) return undefined;
    return Object.values(report.vulnerabilities);
  } catch {
    return undefined;
  }
}
