import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, readText } from './read-files.ts';

const FOLDER = 'packages/runtime/src/config';

export function knownVariables(): ReadonlySet<string> {
  const files = readdirSync(join(ROOT, FOLDER)).filter((name) => /config\.ts$/.test(name));
  const names = files.flatMap((name) => [
    ...readText(join(FOLDER, name)).matchAll(/\b\w+\((?:env, )?'([A-Z][A-Z_]{3,})'/g),
  ]);
  return new Set(names.map(([, name = '']) => name).concat('HOST', 'PORT'));
}
