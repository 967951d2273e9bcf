// Installs PHP and Ruby for tests/examples, which runs the examples of the documents.
import { aptInstall, hasCommand } from './installed.mjs';

export function installLanguages() {
  const missing = Object.entries({ php: 'php-cli', ruby: 'ruby', python3: 'python3' }).filter(
    ([command]) => !hasCommand(command),
  );
  if (missing.length > 0) aptInstall(missing.map(([, debianPackage]) => debianPackage));
}

if (process.argv[1]?.endsWith('install-languages.mjs')) installLanguages();
