import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const ROOT = resolve(__dirname, '../..');

export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
export const readJson = <T>(path: string): T => JSON.parse(readText(path)) as T;
export const readYaml = <T>(path: string): T => parse(readText(path), { merge: true }) as T;

/** All YAML documents of a file. Throws if one of them is not valid YAML. */
export function readYamls<T>(path: string): T[] {
  return parseAllDocuments(readText(path)).map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors[0]?.message}`);
    return document.toJS() as T;
  });
}

/** The text of every TypeScript file below a folder. */
export function readSources(folder: string, ending = '.ts'): string {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith(ending))
    .map((file) => readText(join(folder, file)))
    .join('\n');
}
