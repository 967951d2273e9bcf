import { EventEmitter, once } from 'node:events';
import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { CliIo } from '@weir/cli/cli-io';
import { createExportProgress } from '@weir/cli/export/export-progress';
import { createProgress, showWaiting } from '@weir/cli/progress-bar';

/** The sequences that hide the cursor and switch off line wrapping. */
const HIDES_CURSOR = '\u001b[?25l';
const CUTS_LINES = '\u001b[?7l';

test.each([
  ['a bar', (io: CliIo) => createProgress(io, 'lines', 10, 5), '5 of 10 lines'],
  ['the progress of an export', createExportProgress, '0.0 MB'],
])('%s leaves the cursor and the line wrapping of the terminal as they are', (_, create, shown) => {
  let written = '';
  const stderr = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        written += String(chunk);
        done();
      },
    }),
    { isTTY: true },
  );
  create({ stderr, clock: () => 0 } as unknown as CliIo).stop();
  expect(stripVTControlCharacters(written)).toContain(shown);
  expect(written).not.toContain(HIDES_CURSOR);
  expect(written).not.toContain(CUTS_LINES);
});

test('the lines show no rate below 0 after an undo, and "done" only if there was something to do', () => {
  const lines: string[] = [];
  let now = 0;
  const stderr = { write: (text: string) => lines.push(text.trimEnd()) };
  const progress = createProgress({ stderr, clock: () => now } as unknown as CliIo, 'records', 10, 10);
  for (const [done, total] of [
    [0, 0],
    [4, 10],
    [10, 10],
  ] as const) {
    now += 2_000;
    progress.update(done, total);
  }
  expect(lines).toEqual([
    '0 of 0 records, 0 records/s',
    '4 of 10 records, 2 records/s, 0:03 left',
    '10 of 10 records, 3 records/s, done',
  ]);
});

test('without a known progress, a terminal shows the time of waiting until the work ends', async () => {
  let written = '';
  let times = 0;
  const shown = new EventEmitter();
  const write = (text: string) => {
    written += text;
    shown.emit('text');
  };
  const io = { stderr: { write, isTTY: true }, clock: () => 5_000 * times++ } as unknown as CliIo;
  expect(
    await showWaiting(
      io,
      'Weir compares records',
      once(shown, 'text').then(() => 7),
    ),
  ).toBe(7);
  expect(written).toBe('\rWeir compares records: 5 s\r\u001b[K');
  const silent = { stderr: {}, clock: Date.now } as unknown as CliIo;
  await expect(showWaiting(silent, 'Weir compares records', Promise.reject(new Error('refused')))).rejects.toThrow(
    'refused',
  );
});
