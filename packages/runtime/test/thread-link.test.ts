import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { DependencyError } from '@weir/domain/errors';
import { ConfigError } from '../src/config/config.ts';
import { type Callable, linkThreads, type ThreadLink } from '../src/thread-link.ts';

let ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports) port.close();
  ports = [];
});

/** A link to these functions, through real messages. */
function linkTo<Offered extends Callable>(offered: Offered): ThreadLink<Offered> {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  linkThreads(port2, offered);
  return linkThreads<Offered>(port1, {});
}

test('a call returns the result of the function, and moves array buffers', async () => {
  const link = linkTo({ sizeOf: async (bytes: Uint8Array, more: number) => bytes.byteLength + more });
  const bytes = new Uint8Array(1000);
  expect(await link.call('sizeOf', [bytes, 1], [bytes.buffer])).toBe(1001);
  expect(bytes.byteLength).toBe(0);
});

test('calls and messages without an answer arrive in their order', async () => {
  const seen: number[] = [];
  const link = linkTo({
    note: (n: number) => {
      seen.push(n);
    },
  });
  for (let n = 0; n < 100; n++) {
    if (n % 3 === 0) void link.call('note', [n]);
    else link.tell('note', [n]);
  }
  await link.call('note', [100]);
  expect(seen).toEqual(Array.from({ length: 101 }, (_, n) => n));
});

describe('a call rejects', () => {
  test.each([
    ['a DependencyError', new DependencyError('event_log_unavailable', 'the disk is full')],
    ['a ConfigError', new ConfigError(['PORT must be a number'])],
    ['another error', new Error('broken')],
  ])('with %s of the function', async (_name, error) => {
    const link = linkTo({
      fail: async () => {
        throw error;
      },
    });
    const found = await link.call('fail', []).catch((caught: unknown) => caught);
    expect(found).toBeInstanceOf(error.constructor);
    expect(found).toMatchObject({ message: error.message, ...('code' in error ? { code: error.code } : {}) });
  });

  test('if the other thread does not offer the function, or an argument cannot be copied', async () => {
    const link = linkTo({} as { absent: (value: unknown) => void });
    await expect(link.call('absent', [1])).rejects.toThrow('does not offer absent');
    await expect(link.call('absent', [() => 1])).rejects.toThrow('could not be cloned');
  });

  test('when the link is closed, also if no answer has arrived', async () => {
    const link = linkTo({ never: () => new Promise<void>(() => undefined) });
    const waiting = link.call('never', []);
    link.close();
    await expect(waiting).rejects.toThrow('closed');
    await expect(link.call('never', [])).rejects.toThrow('closed');
  });
});
