import { appendFileSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QueuedCall } from '../src/event.ts';
import { openQueueFile } from '../src/queue-file.ts';
import { Weir } from '../src/weir.ts';

describe('a queue file', () => {
  let path: string;
  beforeEach(() => {
    path = join(mkdtempSync(join(tmpdir(), 'weir-queue-')), 'queue');
  });
  afterEach(() => rmSync(join(path, '..'), { recursive: true }));

  const call = (id: string): QueuedCall => ({ id, kind: 'event', body: '{}' });
  const loaded = (): readonly QueuedCall[] => {
    const file = openQueueFile(path);
    file.close();
    return file.load();
  };

  test('a line that a full disk has cut does not affect other lines', () => {
    const file = openQueueFile(path);
    file.add(call('before'));
    appendFileSync(path, '\n{"id":"cut","kin');
    file.add(call('after'));
    file.close();
    expect(loaded()).toEqual([call('before'), call('after')]);
  });

  test.each(['', 'order-1'])(
    'two unsent events with the idempotency key %j are both stored',
    async (idempotencyKey) => {
      const hangs = () => new Promise<Response>(() => {});
      const weir = new Weir({ url: 'http://127.0.0.1', apiKey: 'k', fetch: hangs, store: openQueueFile(path) });
      weir.track('first', { idempotencyKey });
      weir.track('second', { idempotencyKey });
      const bodies = loaded().map(({ body }) => JSON.parse(body));
      expect(bodies.map(({ name }) => name)).toEqual(['first', 'second']);
      const keys = bodies.map(({ idempotency_key }) => idempotency_key);
      if (idempotencyKey === '') expect(new Set(keys).add('').size).toBe(3);
      else expect(keys).toEqual([idempotencyKey, idempotencyKey]);
    },
  );

  test('a file that could not be rewritten is used unchanged', () => {
    const file = openQueueFile(path);
    const calls = Array.from({ length: 5_001 }, (_, count) => call(`c${count}`));
    for (const one of [...calls, call('kept')]) file.add(one);
    mkdirSync(`${path}.new`);
    expect(() => file.remove(calls)).toThrow('EISDIR');
    file.add(call('after'));
    rmdirSync(`${path}.new`);
    file.remove([call('after')]);
    file.close();
    expect(loaded()).toEqual([call('kept')]);
  });
});
