// Installs PHP, Ruby and Python for the tests that run the examples of the documents, and kafka-python (Apache-2.0) for examples/.
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { aptInstall, hasCommand, run } from './installed.mjs';
import { KAFKA_PYTHON } from './layout.mjs';

export function installLanguages() {
  const missing = Object.entries({ php: 'php-cli', ruby: 'ruby', python3: 'python3' }).filter(
    ([command]) => !hasCommand(command),
  );
  if (missing.length > 0) aptInstall(missing.map(([, debianPackage]) => debianPackage));
  installKafkaPython();
}

function installKafkaPython() {
  if (existsSync(KAFKA_PYTHON)) return;
  if (spawnSync('python3', ['-m', 'pip', '--version']).status !== 0) aptInstall(['python3-pip']);
  const unfinished = `${KAFKA_PYTHON}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  run('python3', ['-m', 'pip', 'install', '--quiet', '--target', unfinished, 'kafka-python==2.2.15']);
  renameSync(unfinished, KAFKA_PYTHON);
}

if (process.argv[1]?.endsWith('install-languages.mjs')) installLanguages();
