import {
  HEADER_COLUMNS_VERSION,
  HEADER_RAW_OFFSET,
  HEADER_RECEIVED_AT,
  RECORDS_COLUMNS_VERSION,
} from '@weir/domain/records/records-columns';
import type { StoredRecord } from '@weir/ports/event-log';
import { createGatherer } from '../src/gatherer.ts';
import { JUNE } from './writer-harness.ts';

const ROWS_MAX = 3;

function openGatherer(expectsMore: () => boolean) {
  return createGatherer({
    limits: { rowsMax: ROWS_MAX, bytesMax: 1_000, lingerMs: 1 },
    firstRawOffset: 0,
    firstOffset: 0,
    planned: undefined,
    interrupted: () => false,
    lineOf: undefined,
    expectsMore,
    signal: new AbortController().signal,
  });
}

function recordsOf(...offsets: number[]): StoredRecord[] {
  return offsets.map((offset) => ({
    offset,
    value: Buffer.from('[]'),
    appendedAt: JUNE,
    headers: {
      [HEADER_RAW_OFFSET]: String(offset),
      [HEADER_COLUMNS_VERSION]: String(RECORDS_COLUMNS_VERSION),
      [HEADER_RECEIVED_AT]: String(JUNE),
    },
  }));
}

test('an incomplete batch waits while more rows are expected, and is due when no more are expected', async () => {
  let asked = 0;
  const gatherer = openGatherer(() => ++asked < 5);
  gatherer.push(recordsOf(0, 1));
  await gatherer.due();
  expect(asked).toBe(5);
  expect(gatherer.take().rows).toHaveLength(2);
  gatherer.close();
});

test('a full batch is due although more rows are expected', async () => {
  const gatherer = openGatherer(() => true);
  gatherer.push(recordsOf(0, 1));
  gatherer.push(recordsOf(2, 3));
  await gatherer.due();
  expect(gatherer.take().rows).toHaveLength(ROWS_MAX);
  expect(gatherer.ready()).toBe(false);
  gatherer.close();
});
