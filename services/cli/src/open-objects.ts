import { pathToFileURL } from 'node:url';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { isDependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';
import type { CliEnvironment } from './cli-config.ts';
import { CliError, EXIT } from './exit-codes.ts';

/** Opens `file:///folder` or `s3://bucket/prefix`, with the same settings as Weir. Throws `TypeError` on another URL. */
export function openObjects(url: string, env: CliEnvironment): Promise<ObjectStore> {
  const endpoint = env.S3_ENDPOINT || undefined;
  const s3 = { endpoint, region: env.S3_REGION || 'us-east-1', pathStyle: env.S3_PATH_STYLE === 'true' };
  return openObjectStore({ url, s3 });
}

/** A folder, `file://` or `s3://` as a URL. A relative folder counts from the current one. */
export function objectsUrl(place: string): string {
  return /^(file|s3):/.test(place) ? place : pathToFileURL(place).href;
}

/** Runs `work` on an object store, and turns its failures into messages. */
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
