import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { isDependencyError } from '@weir/domain/errors';
import { hideCredentials } from '@weir/domain/net/hide-credentials';
import type { ObjectStore } from '@weir/ports/object-store';
import { createEnvReader } from '@weir/runtime/config/env-reader';
import { readS3Settings } from '@weir/runtime/config/s3-config';
import type { CliEnvironment } from './cli-config.ts';
import { CliError, EXIT } from './exit-codes.ts';

/**
 * Opens `file:///folder` or `s3://bucket/prefix`, with the same settings as Weir. Rejects with `TypeError` for another URL,
 * and with `CliError` if a setting is invalid.
 */
export async function openObjects(url: string, env: CliEnvironment): Promise<ObjectStore> {
  const reader = createEnvReader(env);
  const s3 = readS3Settings(reader);
  if (reader.problems.length > 0) throw new CliError(reader.problems.join('; '), EXIT.usage);
  return openObjectStore({ url, s3 });
}

/**
 * Returns a URL for a place that is a `file://` URL, an `s3://` URL or the path of a folder. Throws `CliError` for another URL, and for an empty
 * text, which is usually a variable that is not set.
 */
export function objectsUrl(place: string): string {
  if (/^(file|s3):/.test(place)) return place;
  if (place === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(place))
    throw new CliError(
      `<place> must be a folder, file:///folder or s3://bucket/prefix, not "${hideCredentials(place)}"`,
      EXIT.usage,
    );
  return pathToFileURL(place).href;
}

/** The place in messages: the absolute path of a folder, or an `s3://` URL. A wrong path or prefix is then seen. */
export function placeName(place: string): string {
  const url = objectsUrl(place);
  return url.startsWith('file:') ? resolve(fileURLToPath(url)) : url;
}

/**
 * Opens an object store to read it, runs `work` on it, and closes it. Rejects with `CliError` if the store fails, the URL is wrong, or the folder
 * does not exist.
 */
export async function withObjects<T>(
  url: string,
  env: CliEnvironment,
  work: (objects: ObjectStore) => Promise<T>,
): Promise<T> {
  try {
    const objects = await openObjects(url, env);
    try {
      assertFolderExists(url);
      return await work(objects);
    } finally {
      objects.close();
    }
  } catch (error) {
    if (isDependencyError(error)) throw new CliError(error.message, EXIT.failed);
    if (error instanceof TypeError) throw new CliError(error.message, EXIT.usage);
    throw error;
  }
}

/** The object store in a folder that does not exist has no objects. For a command that only reads, the path is then wrong. */
function assertFolderExists(url: string): void {
  if (!url.startsWith('file:')) return;
  const folder = fileURLToPath(url);
  const found = existsSync(folder) ? statSync(folder) : undefined;
  if (found === undefined) throw new CliError(`the folder ${folder} does not exist: check the path`, EXIT.failed);
  if (!found.isDirectory()) throw new CliError(`${folder} is not a folder: check the path`, EXIT.failed);
}
