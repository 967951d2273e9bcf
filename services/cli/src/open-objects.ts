import { pathToFileURL } from 'node:url';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { isDependencyError } from '@weir/domain/errors';
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

/** Returns a URL for a place that is a `file://` URL, an `s3://` URL or the path of a folder. */
export function objectsUrl(place: string): string {
  return /^(file|s3):/.test(place) ? place : pathToFileURL(place).href;
}

/** Opens an object store, runs `work` on it, and closes it. Rejects with `CliError` if the store fails or the URL is wrong. */
export async function withObjects<T>(
  url: string,
  env: CliEnvironment,
  work: (objects: ObjectStore) => Promise<T>,
): Promise<T> {
  try {
    const objects = await openObjects(url, env);
    try {
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
