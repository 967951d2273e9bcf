import type { Checked } from '../http/compile-body.ts';

// A cursor is a text that says where the next page of a topic begins. It must fit into a URL even for a log of 1,024
// partitions.
const LOG_CURSOR = /^([a-z.]+)_([^_]+)_([0-9a-z]+(?:\.[0-9a-z]+)*)$/;
const OFFSET_BASE = 36;
const NOT_A_CURSOR = 'after must be the cursor of an earlier answer for this topic';

/** The cursor after a page of a topic in the log. `next`: the next offset of each partition. */
export function logCursor(topic: string, logId: string, next: readonly number[]): string {
  return `${topic}_${logId}_${next.map((offset) => offset.toString(OFFSET_BASE)).join('.')}`;
}

export function readLogCursor(
  text: string,
  topic: string,
  logId: string,
  partitions: number,
): Checked<readonly number[]> {
  const [, ofTopic, ofLog, offsets = ''] = LOG_CURSOR.exec(text) ?? [];
  if (ofTopic !== topic) return { problem: NOT_A_CURSOR };
  if (ofLog !== logId) return { problem: 'after is a cursor of another event log: the log was created again' };
  const next = offsets.split('.').map((offset) => Number.parseInt(offset, OFFSET_BASE));
  if (next.length !== partitions || !next.every(Number.isSafeInteger)) return { problem: NOT_A_CURSOR };
  return { value: next };
}

/** The cursor after a page of a compacted topic. `key`: the key of the last row. */
export function tableCursor(topic: string, key: string): string {
  return `${topic}_${Buffer.from(key).toString('base64url')}`;
}

export function readTableCursor(text: string, topic: string): Checked<string> {
  if (!text.startsWith(`${topic}_`)) return { problem: NOT_A_CURSOR };
  return { value: Buffer.from(text.slice(topic.length + 1), 'base64url').toString() };
}
