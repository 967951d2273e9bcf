import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { rewriteSegment } from '@weir/runtime/archive/rewrite-segment';
import { parseSegmentName } from '@weir/runtime/archive/segment-name';
import { eventually } from '@weir/testkit/eventually';
import { sendHttp } from '@weir/testkit/http-client';
import { describeLive } from '@weir/testkit/live-ports';
import type { WeirProcess } from '@weir/testkit/weir-process';
import { archivedRecords } from '../../services/archiver/test/archived-records.ts';
import { FAULTS_ENV } from '../faults/exactly-once.ts';
import { describeDistributed } from './deployment.ts';

const EVENTS = 200;
const STEP_WITHIN_MS = 180_000;
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
const ERASED = { headers: {}, value: new Uint8Array(0) };

jest.setTimeout(6 * STEP_WITHIN_MS);

/** A request that stores a segment in the archive. The proxy has received it, but has not forwarded it. */
interface HeldRequest {
  readonly name: string;
  /** Forwards the request and its answer. Resolves with the status of the answer. */
  release(): Promise<number | undefined>;
}

/** A proxy that forwards all requests to S3. It holds the first request that stores a segment, and passes it to `onHeld`. */
async function startHoldingProxy(target: string, onHeld: (request: HeldRequest) => void): Promise<Server> {
  let isArmed = true;
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = await buffer(request);
    const forward = async (): Promise<number | undefined> => {
      const answer = await fetch(target + url, {
        method,
        headers: forwarded(headers),
        ...(body.length > 0 ? { body } : {}),
      });
      const content = Buffer.from(await answer.arrayBuffer());
      const kept = [...answer.headers].filter(([name]) => !DROPPED.includes(name));
      response.writeHead(answer.status, Object.fromEntries(kept)).end(content);
      return answer.status;
    };
    const name = url.split('?')[0]?.split('/archive/')[1] ?? '';
    if (isArmed && method === 'PUT' && parseSegmentName(name) !== undefined) {
      isArmed = false;
      let released: Promise<number | undefined> | undefined;
      onHeld({
        name,
        release() {
          released ??= forward();
          return released;
        },
      });
    } else await forward();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const DROPPED = ['host', 'connection', 'content-length', 'transfer-encoding', 'content-encoding', 'expect'];

function forwarded(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (DROPPED.includes(name) ? [] : [[name, String(value)]])),
  );
}

describeDistributed('an archiver that is stopped, replaced and continued', FAULTS_ENV, (weir) => {
  describeLive('s3', (endpoint) => {
    test('neither replaces the segments of its successor nor undoes an erasure; each record is archived once', async () => {
      Object.assign(process.env, CREDENTIALS);
      const bucket = `weir-${randomUUID()}`;
      expect((await fetch(`${endpoint()}/${bucket}`, { method: 'PUT' })).ok).toBe(true);
      const url = `s3://${bucket}/archive`;
      const store = await openObjectStore({ url, s3: { endpoint: endpoint(), region: 'us-east-1', pathStyle: true } });
      const archiving = { ...CREDENTIALS, ARCHIVE_URL: url, ARCHIVE_LINGER_SECONDS: '1', S3_PATH_STYLE: 'true' };
      const { client, start } = weir();
      const site = await client.createSite();
      const { key } = await client.createKey(site);
      const send = async (): Promise<void> => {
        const events = Array.from({ length: EVENTS }, (_, nth) => ({ name: 'seen', visitor_id: `visitor-${nth}` }));
        await client.sendBatch(key, events);
        await client.settled();
      };
      const numbers = async (): Promise<readonly number[]> =>
        Promise.all(
          ['events.raw', 'events.enriched'].map(async (topic) => (await archivedRecords(store, topic)).length),
        );

      let zombie: WeirProcess | undefined;
      let held: HeldRequest | undefined;
      const proxy = await startHoldingProxy(endpoint(), (request) => {
        held = request;
        zombie?.signal('SIGSTOP');
      });
      const started: WeirProcess[] = [];
      try {
        const through = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
        zombie = await start('archiver', { ...archiving, S3_ENDPOINT: through });
        started.push(zombie);
        await send();
        await eventually('a segment to be sent', () => held !== undefined, STEP_WITHIN_MS);
        const successor = await start('archiver', { ...archiving, S3_ENDPOINT: endpoint() });
        started.push(successor);
        const all = EVENTS;
        await eventually(
          'the successor to archive all',
          async () => (await numbers()).every((count) => count === all),
          STEP_WITHIN_MS,
        );

        // Changes every segment, as an erasure does, before the first archiver continues.
        for await (const { name, storedAt } of store.list('events.')) {
          const range = parseSegmentName(name);
          if (range !== undefined) await rewriteSegment(store, range, storedAt, (record) => ({ ...record, ...ERASED }));
        }
        zombie.signal('SIGCONT');
        expect(await held?.release()).toBe(412);
        await eventually(
          'the first archiver to answer',
          async () => (await sendHttp(zombie?.url ?? '', { path: '/healthz', timeoutMs: 2_000 })).status === 200,
          STEP_WITHIN_MS,
        );
        await send();
        await eventually(
          'all to be archived',
          async () => (await numbers()).every((count) => count === 2 * all),
          STEP_WITHIN_MS,
        );
        for (const topic of ['events.raw', 'events.enriched']) {
          const records = await archivedRecords(store, topic);
          expect(records.filter(({ value }) => value.length === 0)).toHaveLength(all);
        }
        for (const { ranges } of await summariseArchive(store)) expect(ranges).toHaveLength(1);
        const names: string[] = [];
        for await (const { name } of store.list('events.')) names.push(name);
        expect(names).toContain(held?.name);
      } finally {
        zombie?.signal('SIGCONT');
        await held?.release().catch(() => undefined);
        for (const one of started) await one.stop();
        proxy.close();
        store.close();
      }
    });
  });
});
