import { createLogDestination } from '../src/log-destination.ts';

function fdThat(answer: (text: string) => number | string) {
  const written: string[] = [];
  const write = ((_: number, bytes: Uint8Array) => {
    const text = Buffer.from(bytes).toString();
    const result = answer(text);
    if (typeof result === 'string') throw Object.assign(new Error(result), { code: result });
    written.push(text.slice(0, result));
    return result;
  }) as unknown as typeof import('node:fs').writeSync;
  return { written, write };
}

test('a line is written completely, also if each write accepts only a part of it', () => {
  const { written, write } = fdThat((text) => Math.min(3, text.length));
  createLogDestination(2, write).write('abcdefgh\n');
  expect(written.join('')).toBe('abcdefgh\n');
});

test.each(['ENOSPC', 'EPIPE', 'ECONNRESET'])('lines are dropped and counted while writing fails with %s', (code) => {
  let full = true;
  const { written, write } = fdThat((text) => (full ? code : text.length));
  const destination = createLogDestination(2, write);
  destination.write('one\n');
  destination.write('two\n');
  full = false;
  destination.write('three\n');
  const [notice, line] = written as [string, string];
  expect(JSON.parse(notice)).toMatchObject({ level: 40, dropped: 2 });
  expect(line).toBe('three\n');
});

test('a slow pipe is retried', () => {
  let tries = 0;
  const { written, write } = fdThat((text) => (tries++ < 2 ? 'EAGAIN' : text.length));
  createLogDestination(2, write).write('line\n');
  expect(written).toEqual(['line\n']);
});

test('after a pipe has stayed full for a second, each further line is tried once, until the pipe accepts a line', () => {
  let tries = 0;
  let room = 0;
  const { written, write } = fdThat((text) => {
    tries++;
    if (room < text.length) return 'EAGAIN';
    room -= text.length;
    return text.length;
  });
  const destination = createLogDestination(2, write);
  const triesOf = (line: string) => {
    tries = 0;
    destination.write(line);
    return tries;
  };
  expect(triesOf('one\n')).toBeGreaterThan(2);
  expect(triesOf('two\n')).toBe(1);
  // The pipe has space for the notice about dropped lines, but not for the line after it.
  room = 200;
  expect(triesOf(`${'three'.repeat(100)}\n`)).toBe(2);
  expect(JSON.parse(written[0] ?? '')).toMatchObject({ dropped: 2 });
  room = 1_000;
  expect(triesOf('four\n')).toBe(2);
  expect(written[2]).toBe('four\n');
  room = 0;
  expect(triesOf('five\n')).toBeGreaterThan(2);
});

test('a pipe that stays full is given up, also if the system clock is set back meanwhile', () => {
  const clock = jest.spyOn(Date, 'now').mockReturnValue(0);
  let tries = 0;
  // With pauses of 5 ms, 200 tries take a second. A destination that never gave up would reach the other error.
  const { write } = fdThat(() => (tries++ < 2_000 ? 'EAGAIN' : 'EBADF'));
  try {
    createLogDestination(2, write).write('line\n');
  } finally {
    clock.mockRestore();
  }
});

test('any other error is thrown', () => {
  const { write } = fdThat(() => 'EBADF');
  expect(() => createLogDestination(2, write).write('line\n')).toThrow('EBADF');
});
