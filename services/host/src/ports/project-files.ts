import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files of the installation that are read at run time. They are found both from the bundle in dist/ and from the sources. */
export interface ProjectFiles {
  readonly migrationsDir: string;
  /** The program that runs as the embedded ClickHouse process. */
  readonly clickhouseServer: string;
  /** The program of the pipeline thread. */
  readonly pipelineWorker: string;
  /** The program of a gateway process. */
  readonly gatewayProcess: string;
  /** The built files for browsers, such as /weir.js. */
  readonly publicDir: string;
  /** The built dashboard. */
  readonly dashboardDir: string;
}

export function findProjectFiles(): ProjectFiles {
  const here = fileURLToPath(import.meta.url);
  const root = findUp(dirname(here), join('schemas', 'clickhouse'));
  const program = (folder: string, name: string): string =>
    here.endsWith('.ts') ? join(root, folder, `${name}.ts`) : join(dirname(here), `${name}.js`);
  return {
    migrationsDir: join(root, 'schemas', 'clickhouse'),
    clickhouseServer: program('packages/embedded-clickhouse/src', 'clickhouse-server'),
    pipelineWorker: program('services/host/src/thread', 'pipeline-worker'),
    gatewayProcess: program('services/host/src/gateways', 'gateway-process'),
    publicDir: join(root, 'dist', 'public'),
    dashboardDir: join(root, 'dist', 'dashboard'),
  };
}

function findUp(from: string, holds: string): string {
  if (existsSync(join(from, holds))) return from;
  const parent = dirname(from);
  if (parent === from) throw new Error(`this installation has no ${holds}: install Weir again`);
  return findUp(parent, holds);
}
