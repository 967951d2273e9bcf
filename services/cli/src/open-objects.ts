import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import type { ObjectStore } from '@weir/ports/object-store';
import type { CliEnvironment } from './cli-config.ts';

/** Opens `file:///folder` or `s3://bucket/prefix`, with the same settings as Weir. Throws `TypeError` on another URL. */
export function openObjects(url: string, env: CliEnvironment): Promise<ObjectStore> {
  const endpoint = env.S3_ENDPOINT || undefined;
  const s3 = { endpoint, region: env.S3_REGION || 'us-east-1', pathStyle: env.S3_PATH_STYLE === 'true' };
  return openObjectStore({ url, s3 });
}
