import { DUMP_COLUMNS, DUMP_VERSION } from '@weir/domain/dump/dump-format';
import type { DumpedRow } from '@weir/domain/dump/dumped-row';
import { partitionKey } from '@weir/domain/records/partition-key';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import type { EventLog } from '@weir/ports/event-log';
import { type AppendHits, appendRaw } from './append-result.ts';

interface AppendRowsDeps {
  readonly eventLog: EventLog;
  readonly clock: () => number;
}

/** Appends rows of a dump as raw records of kind `dumped`, in order. */
export async function appendRows(
  { eventLog, clock }: AppendRowsDeps,
  siteId: string,
  rows: readonly DumpedRow[],
): Promise<AppendHits> {
  if (rows.length === 0) return 'stored';
  const receivedAt = clock();
  const records = rows.map(({ values, outcome, eventId, visitorId, userId }) => {
    const head = {
      eventId,
      kind: 'dumped',
      siteId,
      receivedAt,
      sealedIp: '',
      userAgent: '',
      acceptLanguage: '',
    } as const;
    const body = { dump: DUMP_VERSION, row: DUMP_COLUMNS.map((column) => values[column]) };
    return {
      key: partitionKey({ siteId, eventId, userId, visitorId, idempotencyKey: '' }, outcome === 'identify'),
      value: encodeRawRecord(head, JSON.stringify(body)),
    };
  });
  return appendRaw(eventLog, records);
}
