import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore, StoredObject } from '@weir/ports/object-store';
import { objectContent } from './object-content.ts';
import { assertObjectName } from './object-names.ts';

/**
 * Connection settings of S3. The AWS SDK finds the credentials: in environment variables, in its shared files, or from the
 * machine's role.
 */
export interface S3Config {
  /** The address of another S3-compatible service, such as `http://minio:9000`. Undefined for AWS. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** If true, URLs have the form `endpoint/bucket/name` instead of `bucket.endpoint/name`. */
  readonly pathStyle: boolean;
}

export interface S3Location extends S3Config {
  readonly bucket: string;
  /** The prefix of all names, without slashes at its ends. Can be empty. */
  readonly prefix: string;
  /** A request fails if no byte is sent or received for this time. Default: `STALLED_MS`. */
  readonly stalledMs?: number;
}

const CONNECT_TIMEOUT_MS = 5000;
/** A service that accepts a connection can be silent, or can stop in the middle of an answer. The request then fails after this time. */
const STALLED_MS = 300_000;
/** The time in which the answer to a request must begin. It includes the upload of a part (`PART_BYTES`): two parts at once need 2 Mbit/s. */
const REQUEST_TIMEOUT_MS = 600_000;
/**
 * The size of a part of an upload. S3 accepts 10,000 parts, so a stream can have 625 GiB. At most three parts are in memory: two that are being
 * uploaded, and the next one, which is being collected.
 */
const PART_BYTES = 64 * 1024 * 1024;
const PARTS_AT_ONCE = 2;
/** The status of the answer to a conditional write if the condition is false: the object exists, or has another version. */
const NOT_AS_EXPECTED = 412;
/** The status of the answer to a replacement of an object that does not exist. */
const NO_OBJECT = 404;
/** The status of the answer of a service that does not support conditional writes. */
const NO_CONDITIONS = 501;
/** Statuses from 400 to 499 after which a retry may succeed: a timeout (408), a concurrent conditional write (409), and too many requests (429). */
const RETRYABLE = [408, 409, 429];
/** The name of S3's error if the body of a request arrived too slowly. Its status is 400, but a retry may succeed. */
const TOO_SLOW = 'RequestTimeout';

/** Opens the object store under a prefix of a bucket. The bucket must exist. */
export function openS3ObjectStore(config: S3Location): ObjectStore {
  const { bucket, prefix, stalledMs = STALLED_MS } = config;
  const client = openClient(config, REQUEST_TIMEOUT_MS, stalledMs);
  // A reader of an object can pause for longer than `stalledMs`, for example while ClickHouse is unavailable. So `get` has its own client, with a
  // longer `socketTimeout`, and `objectContent` counts only the time for which the reader waits.
  const getClient = openClient(config, stalledMs, REQUEST_TIMEOUT_MS);
  const location = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
  const root = prefix === '' ? '' : `${prefix}/`;

  const keyOf = (name: string): string => {
    assertObjectName(name);
    return root + name;
  };

  /** Runs one request and translates the errors of the SDK. */
  const send = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw translate(`cannot ${what} in ${location}`, error);
    }
  };

  async function* list(namePrefix: string): AsyncIterable<StoredObject> {
    let token: string | undefined;
    do {
      const page = await send(`list ${namePrefix}`, () =>
        client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: root + namePrefix, ContinuationToken: token })),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        if (Key !== undefined)
          yield { name: Key.slice(root.length), bytes: Size ?? 0, storedAt: LastModified?.getTime() ?? 0 };
      }
      if (page.IsTruncated !== true) return;
      const next = page.NextContinuationToken;
      // Without this check, the list would end early or never. A caller that gets an incomplete list skips objects, for example during an erasure.
      if (next === undefined || next === token) {
        const message = `cannot list ${namePrefix} in ${location}: the service answers that there are more objects, but not how to get them. Use a service that supports ListObjectsV2`;
        throw new DependencyError('object_store_refused', message);
      }
      token = next;
    } while (token !== undefined);
  }

  async function versionOf(name: string): Promise<string | undefined> {
    try {
      return (await client.send(new HeadObjectCommand({ Bucket: bucket, Key: keyOf(name) }))).ETag;
    } catch (error) {
      if (statusOf(error) === NO_OBJECT) return undefined;
      throw error;
    }
  }

  /**
   * Stores the object if the condition is true. Without support for conditional writes, reads the version of the object first, and compares it
   * here. Resolves with whether the object was stored.
   */
  const putIf = (name: string, body: Uint8Array, condition: { IfMatch?: string; IfNoneMatch?: string }) =>
    send(`store ${name}`, async () => {
      const target = { Bucket: bucket, Key: keyOf(name), Body: body, ContentLength: body.byteLength };
      try {
        await client.send(new PutObjectCommand({ ...target, ...condition }));
      } catch (error) {
        const status = statusOf(error);
        const isMissingBucket = error instanceof S3ServiceException && error.name === 'NoSuchBucket';
        // Only after `IfMatch`, a 404 means that the object was deleted. After `IfNoneMatch`, it is an error, such as a wrong address.
        const isDeleted = status === NO_OBJECT && condition.IfMatch !== undefined && !isMissingBucket;
        if (status === NOT_AS_EXPECTED || isDeleted) return false;
        if (status !== NO_CONDITIONS) throw error;
        if ((await versionOf(name)) !== condition.IfMatch) return false;
        await client.send(new PutObjectCommand(target));
      }
      return true;
    });

  return {
    put: (name, body) =>
      send(`store ${name}`, async () => {
        const target = { Bucket: bucket, Key: keyOf(name), Body: body };
        if (body instanceof Readable) {
          await new Upload({ client, params: target, partSize: PART_BYTES, queueSize: PARTS_AT_ONCE }).done();
        } else {
          await client.send(new PutObjectCommand({ ...target, ContentLength: body.byteLength }));
        }
      }),

    create: (name, body) => putIf(name, body, { IfNoneMatch: '*' }),
    replace: (name, version, body) => putIf(name, body, { IfMatch: version }),

    version: (name) => send(`read ${name}`, () => versionOf(name)),

    get: (name) =>
      send(`read ${name}`, async () => {
        try {
          const { Body } = await getClient.send(new GetObjectCommand({ Bucket: bucket, Key: keyOf(name) }));
          const failed = (error: unknown): DependencyError => {
            const what = `cannot read ${name} in ${location} to its end: ${(error as Error).message}`;
            return new DependencyError('object_store_unavailable', what, { cause: error });
          };
          return objectContent(Body as Readable, failed, stalledMs);
        } catch (error) {
          if (isNoSuchKey(error)) return undefined;
          throw error;
        }
      }),

    list,

    delete: (name) =>
      send(`delete ${name}`, async () => {
        try {
          await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: keyOf(name) }));
        } catch (error) {
          // AWS answers 204 if the object does not exist. Some other services answer with this error.
          if (!isNoSuchKey(error)) throw error;
        }
      }),

    removeLeftovers: async () => undefined,
    close() {
      client.destroy();
      getClient.destroy();
    },
  };
}

/**
 * The times are in milliseconds. `requestTimeout`: the time in which the answer must begin. `socketTimeout`: the longest time without sending or
 * receiving a byte.
 */
function openClient(
  { endpoint, region, pathStyle }: S3Config,
  requestTimeout: number,
  socketTimeout: number,
): S3Client {
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout,
      throwOnRequestTimeout: true,
      socketTimeout,
    },
    // Some S3-compatible services do not support the SDK's checksums. Weir has its own checksums for the segments of the archive and the chunks
    // of backups.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

function isNoSuchKey(error: unknown): boolean {
  return error instanceof S3ServiceException && error.name === 'NoSuchKey';
}

/**
 * Translates an error of the SDK. After the statuses in `RETRYABLE`, after 5xx and after `TOO_SLOW`, a retry may succeed. After any other error
 * status, an operator must change the credentials, the bucket or the permissions.
 */
function translate(what: string, error: unknown): unknown {
  if (error instanceof TypeError || error instanceof DependencyError || !(error instanceof Error)) return error;
  const status = statusOf(error);
  const noCredentials = error.name === 'CredentialsProviderError';
  const isRetryable = status === undefined || RETRYABLE.includes(status) || error.name === TOO_SLOW;
  const refused = noCredentials || (!isRetryable && status >= 300 && status < 500);
  const reason = error.message || error.name;
  const advice = refused ? ': check the endpoint, the region, the bucket, the credentials and their permissions' : '';
  return new DependencyError(
    refused ? 'object_store_refused' : 'object_store_unavailable',
    `${what}: ${reason}${advice}`,
    { cause: error },
  );
}
