import {
  appendFileSync,
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import type { QueuedCall } from './event.ts';
import type { OutboxStore } from './outbox.ts';

/** When the file has this many unneeded lines, it is written again with only the unsent calls. */
const SPARE_LINES_MAX = 10_000;

/**
 * Stores unsent calls in a file of JSON lines: one line when a call is added, and one with its ID when it is done. Only one process
 * may use the file. A call that was sent just before a crash is sent again. For an event, the idempotency key makes this safe for 24 hours.
 */
export function openQueueFile(path: string): OutboxStore {
  const unsent = new Map<string, QueuedCall>();
  let spareLines = 0;
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []) {
    const entry = parseLine(line);
    if (entry === undefined) continue;
    if ('done' in entry) unsent.delete(entry.done);
    else unsent.set(entry.id, entry);
  }
  let file = rewrite();

  /** Each entry begins with a line break, which ends a line that a full disk has cut off. */
  function append(entries: readonly object[]): void {
    appendFileSync(file, entries.map((entry) => `\n${JSON.stringify(entry)}`).join(''));
  }

  function rewrite(): number {
    writeFileSync(`${path}.new`, [...unsent.values()].map((call) => `${JSON.stringify(call)}\n`).join(''), {
      mode: 0o600,
    });
    renameSync(`${path}.new`, path);
    spareLines = 0;
    return openSync(path, 'a');
  }

  return {
    load: () => [...unsent.values()],
    add(call) {
      append([call]);
      unsent.set(call.id, call);
    },
    remove(calls) {
      for (const { id } of calls) unsent.delete(id);
      spareLines += calls.length * 2;
      if (unsent.size === 0) {
        ftruncateSync(file, 0);
        spareLines = 0;
      } else if (spareLines > SPARE_LINES_MAX) {
        const old = file;
        file = rewrite();
        closeSync(old);
      } else append(calls.map(({ id }) => ({ done: id })));
    },
    close: () => closeSync(file),
  };
}

/** Ignores a line that a crash or a full disk has cut off. A cut call was never accepted. A call whose line with the ID is cut is sent again. */
function parseLine(line: string): QueuedCall | { readonly done: string } | undefined {
  if (line === '') return undefined;
  try {
    return JSON.parse(line) as QueuedCall;
  } catch {
    return undefined;
  }
}
