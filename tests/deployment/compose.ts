import { readText, readYaml } from './read-files.ts';

interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] };
  readonly deploy?: { readonly resources?: { readonly limits?: { readonly cpus?: string; readonly memory?: string } } };
}

interface ComposeFile {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
}

export const ROLES = ['gateway', 'enricher', 'writer', 'control'];

export const readCompose = (): ComposeFile => readYaml('docker-compose.yml');

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as Docker Compose does. */
export function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g, (whole, name: string, kind?: string, rest?: string) => {
    if (whole === '$$') return '$';
    const value = env[name] ?? '';
    if (value !== '') return value;
    if (kind === '?') throw new Error(`${name}: ${rest}`);
    return kind === '-' ? (rest ?? '') : '';
  });
}

/** The variables in docker-compose.yml. `required`: Compose fails without the variable. `defaulted`: it has a default. */
export function composeVariables(): ReadonlyMap<string, 'required' | 'defaulted' | 'plain'> {
  const found = new Map<string, 'required' | 'defaulted' | 'plain'>();
  for (const [, name = '', kind] of readText('docker-compose.yml').matchAll(/(?<!\$)\$\{(\w+)(?::([-?])[^}]*)?\}/g)) {
    const how = kind === '?' ? 'required' : kind === '-' ? 'defaulted' : 'plain';
    if (found.get(name) !== 'required') found.set(name, how);
  }
  return found;
}
