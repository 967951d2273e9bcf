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

/** Done calls are forgotten by writing the file anew when it has this many lines more than it needs. */
const SPARE_LINES_MAX = 10_000;

/**
 * Unsent calls in a file of JSON lines: a call when it is taken, its ID when it is done. One process at a time. A call that was
 * sent just before a crash is sent again, which its idempotency key makes harmless for 24 hours.
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

  /** The line break comes first, and so ends what a full disk has cut. */
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

/** A line cut by a crash or a full disk was never taken. */
function parseLine(line: string): QueuedCall | { readonly done: string } | undefined {
  if (line === '') return undefined;
  try {
    return JSON.parse(line) as QueuedCall;
  } catch {
    return undefined;
  }
}
