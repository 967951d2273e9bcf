import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { ObjectStore } from '@weir/ports/object-store';
import { verifySegment } from '@weir/runtime/archive/read-segment';
import { describeLive } from '@weir/testkit/live-ports';
import { objectStoreContract } from '../../../ports/contract/object-store.contract.ts';
import { openObjectStore } from '../../src/object-store/open-object-store.ts';
import { openS3ObjectStore } from '../../src/object-store/s3-object-store.ts';

process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

describeLive('s3', (address) => {
  const open = async (prefix: string): Promise<ObjectStore> => {
    const bucket = `weir-${randomUUID()}`;
    const { ok } = await fetch(`${address()}/${bucket}`, { method: 'PUT' });
    expect(ok).toBe(true);
    return openObjectStore({
      url: `s3://${bucket}${prefix}`,
      s3: { endpoint: address(), region: 'us-east-1', pathStyle: true },
    });
  };

  describe('a bucket', () => objectStoreContract(() => open('')));
  describe('a prefix of a bucket', () => objectStoreContract(() => open('/some/prefix')));

  it('lists more objects than one response can contain', async () => {
    const store = await open('/many');
    const names = Array.from({ length: 1_005 }, (_, at) => `n-${String(at).padStart(5, '0')}`);
    for (let at = 0; at < names.length; at += 50) {
      await Promise.all(names.slice(at, at + 50).map((name) => store.put(name, Buffer.from('1'))));
    }
    const found: string[] = [];
    for await (const { name } of store.list('')) found.push(name);
    expect(found).toEqual(names);
    store.close();
  });

  it('a bucket that does not exist is refused; a server that does not answer is unavailable', async () => {
    const s3 = { region: 'us-east-1', pathStyle: true };
    const none = await openObjectStore({ url: 's3://weir-none', s3: { ...s3, endpoint: address() } });
    await expect(none.put('a', Buffer.from('1'))).rejects.toMatchObject({ code: 'object_store_refused' });
    const away = await openObjectStore({ url: 's3://weir-none', s3: { ...s3, endpoint: 'http://127.0.0.1:1' } });
    await expect(away.get('a')).rejects.toMatchObject({ code: 'object_store_unavailable' });
    none.close();
    away.close();
  });
});

test('a service without conditional writes stores an object without a condition', async () => {
  const stored: string[] = [];
  const server = createServer((request, response) => {
    const isConditional = request.headers['if-none-match'] !== undefined;
    if (request.method === 'PUT' && !isConditional) stored.push(request.url ?? '');
    const status = request.method === 'HEAD' ? 404 : 200;
    request.resume();
    request.on('end', () => response.writeHead(isConditional ? 501 : status).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = await openObjectStore({ url: 's3://bucket', s3: { endpoint, region: 'us-east-1', pathStyle: true } });
  expect(await store.create('a', Buffer.from('1'))).toBe(true);
  expect(stored).toEqual([expect.stringContaining('/bucket/a')]);
  store.close();
  server.close();
});

test('a new object that is answered with 404 is refused: it does not exist already', async () => {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(404).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = await openObjectStore({ url: 's3://bucket', s3: { endpoint, region: 'us-east-1', pathStyle: true } });
  try {
    await expect(store.create('a', Buffer.from('1'))).rejects.toMatchObject({
      code: 'object_store_refused',
      message: expect.stringMatching(
        /: check the endpoint, the region, the bucket, the credentials and their permissions$/,
      ),
    });
    expect(await store.replace('a', 'version', Buffer.from('1'))).toBe(false);
  } finally {
    store.close();
    server.close();
  }
});

test('a stream of unknown length is stored in parts of 64 MiB, so that it can have 625 GiB', async () => {
  const MB = 1024 * 1024;
  const parts: number[] = [];
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://s3');
    if (searchParams.has('partNumber')) parts.push(Number(request.headers['content-length']));
    request.resume();
    request.on('end', () => {
      const answer = searchParams.has('uploads')
        ? '<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>'
        : '<CompleteMultipartUploadResult><ETag>1</ETag></CompleteMultipartUploadResult>';
      response.writeHead(200, { etag: '"1"' }).end(searchParams.has('partNumber') ? '' : answer);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = await openObjectStore({ url: 's3://bucket', s3: { endpoint, region: 'us-east-1', pathStyle: true } });
  try {
    await store.put('a', Readable.from(Array.from({ length: 65 }, () => Buffer.alloc(MB))));
    expect(parts.toSorted((a, b) => a - b)).toEqual([MB, 64 * MB]);
  } finally {
    store.close();
    server.close();
  }
});

test('a connection that is lost while an object is read is object_store_unavailable, not damage', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 });
    response.write(gzipSync(randomBytes(50_000).toString('hex')).subarray(0, 10_000), () => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = await openObjectStore({ url: 's3://bucket', s3: { endpoint, region: 'us-east-1', pathStyle: true } });
  const range = { topic: 'events.raw', logId: 'log', partition: 0, from: 0, to: 9 } as const;
  try {
    await expect(verifySegment(store, range)).rejects.toMatchObject({ code: 'object_store_unavailable' });
  } finally {
    store.close();
    server.closeAllConnections();
    server.close();
  }
});

const STALLED_MS = 200;
const unavailable = expect.objectContaining({ code: 'object_store_unavailable' });
const refused = expect.objectContaining({ code: 'object_store_refused' });

async function withServer(answer: RequestListener, test: (store: ObjectStore) => Promise<void>): Promise<void> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const place = { endpoint, region: 'us-east-1', pathStyle: true, bucket: 'bucket', prefix: '' };
  const store = openS3ObjectStore({ ...place, stalledMs: STALLED_MS });
  try {
    await test(store);
  } finally {
    store.close();
    server.closeAllConnections();
    server.close();
  }
}

describe('a service that stops answering', () => {
  const calls: readonly (readonly [string, (store: ObjectStore) => Promise<unknown>])[] = [
    ['put', (store) => store.put('a', Buffer.from('1'))],
    ['put of a stream', (store) => store.put('a', Readable.from([Buffer.from('1')]))],
    ['create', (store) => store.create('a', Buffer.from('1'))],
    ['version', (store) => store.version('a')],
    ['get', async (store) => buffer((await store.get('a')) ?? Readable.from([]))],
    ['list', async (store) => (await store.list('')[Symbol.asyncIterator]().next()).value],
    ['delete', (store) => store.delete('a')],
  ];

  test.each(calls)('%s fails if the service is silent', async (_name, call) => {
    const silent: RequestListener = (request) => void request.resume();
    await withServer(silent, (store) => expect(call(store)).rejects.toEqual(unavailable));
  });

  test.each(calls.filter(([name]) => name === 'get' || name === 'list'))(
    '%s fails if the service stops in the middle of its answer',
    async (_name, call) => {
      const halfway: RequestListener = (_, response) => {
        response.writeHead(200, { 'content-length': 1_000_000 });
        response.write('<ListBucketResult>');
      };
      await withServer(halfway, (store) => expect(call(store)).rejects.toEqual(unavailable));
    },
  );
});

describe('a service that differs from AWS', () => {
  /** Answers each request with this status and, if it is given, with an error of this name or with this body. */
  const answering =
    (status: number, { error, body = '' }: { readonly error?: string; readonly body?: string } = {}): RequestListener =>
    (request, response) => {
      request.resume();
      const text = error === undefined ? body : `<Error><Code>${error}</Code><Message>no</Message></Error>`;
      request.on('end', () => response.writeHead(status, { 'content-type': 'application/xml' }).end(text));
    };
  const all = async (store: ObjectStore): Promise<string[]> => {
    const names: string[] = [];
    for await (const { name } of store.list('')) names.push(name);
    return names;
  };
  const page = (name: string, more: string): string =>
    `<ListBucketResult><Contents><Key>${name}</Key><Size>1</Size></Contents>${more}</ListBucketResult>`;

  test('an object that is deleted although it does not exist: the answer 404 is no failure', async () => {
    await withServer(answering(404, { error: 'NoSuchKey' }), (store) => store.delete('a'));
    await withServer(answering(404, { error: 'NoSuchBucket' }), (store) =>
      expect(store.delete('a')).rejects.toEqual(refused),
    );
  });

  test.each([
    ['408', answering(408)],
    ['400 RequestTimeout', answering(400, { error: 'RequestTimeout' })],
  ])('after the answer %s, a retry may succeed', async (_name, answer) => {
    await withServer(answer, (store) => expect(store.put('a', Buffer.from('1'))).rejects.toEqual(unavailable));
  });

  test('a list that is not complete is refused, and not taken for a complete one', async () => {
    const body = page('a', '<IsTruncated>true</IsTruncated>');
    await withServer(answering(200, { body }), (store) => expect(all(store)).rejects.toEqual(refused));
  });

  test('a list that never ends is refused', async () => {
    const body = page('a', '<IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken>');
    await withServer(answering(200, { body }), (store) => expect(all(store)).rejects.toEqual(refused));
  });

  test('without conditional writes, `create` and `replace` leave an object that does not have the expected version', async () => {
    const etag = '"1"';
    const puts: unknown[] = [];
    const unconditional: RequestListener = (request, response) => {
      const isConditional = ['if-match', 'if-none-match'].some((name) => request.headers[name] !== undefined);
      if (request.method === 'PUT' && !isConditional) puts.push(request.url);
      request.resume();
      request.on('end', () => response.writeHead(isConditional ? 501 : 200, { etag }).end());
    };
    await withServer(unconditional, async (store) => {
      expect(await store.create('a', Buffer.from('2'))).toBe(false);
      expect(await store.replace('a', '"0"', Buffer.from('2'))).toBe(false);
      expect(puts).toEqual([]);
      expect(await store.replace('a', etag, Buffer.from('2'))).toBe(true);
      expect(puts).toHaveLength(1);
    });
  });
});
