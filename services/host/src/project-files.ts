import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files of the checkout that are read at run time, found from the bundle in dist/ and from the sources alike. */
export interface ProjectFiles {
  readonly migrationsDir: string;
  /** The program of the embedded ClickHouse's process. */
  readonly clickhouseServer: string;
  /** What the build makes for browsers: /weir.js and its like. */
  readonly publicDir: string;
}

export function findProjectFiles(): ProjectFiles {
  const here = fileURLToPath(import.meta.url);
  const root = findUp(dirname(here), join('schemas', 'clickhouse'));
  return {
    migrationsDir: join(root, 'schemas', 'clickhouse'),
    clickhouseServer: here.endsWith('.ts')
      ? join(root, 'packages', 'embedded-clickhouse', 'src', 'server.ts')
      : join(dirname(here), 'clickhouse-server.js'),
    publicDir: join(root, 'dist', 'public'),
  };
}

function findUp(from: string, holds: string): string {
  if (existsSync(join(from, holds))) return from;
  const parent = dirname(from);
  if (parent === from) throw new Error(`this installation has no ${holds}: install Weir again`);
  return findUp(parent, holds);
}
