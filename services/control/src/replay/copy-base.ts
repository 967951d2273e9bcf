import type { ReplayChunk, ReplayRequest, ReplayState } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import { expiredChunks, insertExpired } from './archive/expired-records.ts';
import { copiedRows } from './replay-scope.ts';

/** The number of raw offsets (docs/glossary.md) in a chunk. The rows of a chunk are one block, which ClickHouse holds in memory. */
const CHUNK_OFFSETS = 100_000;

export interface CopyDeps {
  readonly analytics: Pick<Analytics, 'select'>;
  readonly shadow: ShadowTables;
  readonly logId: string;
}

export interface CountedChunk extends ReplayChunk {
  readonly records: number;
}

/** The parts of the replay's state that determine which rows are copied. */
type CopyPlan = Pick<ReplayState, 'starts' | 'archived' | 'expired'>;

interface ChunkRow {
  readonly log_id: string;
  readonly raw_partition: number;
  readonly month: number;
  readonly nth: number | string;
  readonly records: number | string;
}

/**
 * Lists the chunks to copy, in order, and then the chunks of expired records. The list does not change while the replay runs, because all of its
 * records are from before the start of the replay.
 */
export async function listChunks(
  { analytics, shadow, logId }: CopyDeps,
  { starts, archived = [], expired = [] }: CopyPlan,
  request: ReplayRequest,
): Promise<readonly CountedChunk[]> {
  const { sql, params } = copiedRows(logId, starts, request, archived);
  const rows = await analytics.select<ChunkRow>(
    `SELECT toString(log_id) AS log_id, raw_partition, toYYYYMM(received_at) AS month, intDiv(raw_offset, ${CHUNK_OFFSETS}) AS nth, count() AS records
     FROM ${shadow.live}.records WHERE ${sql} GROUP BY log_id, raw_partition, month, nth`,
    params,
  );
  const copied = rows
    .map((row) => ({
      logId: row.log_id,
      partition: row.raw_partition,
      month: row.month,
      nth: Number(row.nth),
      records: Number(row.records),
    }))
    .sort(inOrder);
  const keyOf = ({ logId: log, partition, nth }: ReplayChunk): string => `${log} ${partition} ${nth}`;
  const records = new Map<string, number>();
  for (const chunk of copied) records.set(keyOf(chunk), (records.get(keyOf(chunk)) ?? 0) + chunk.records);
  return [...copied, ...expiredChunks(expired, CHUNK_OFFSETS, (chunk) => records.get(keyOf(chunk)) ?? 0)];
}

export function inOrder(a: ReplayChunk, b: ReplayChunk): number {
  if (a.isExpired !== b.isExpired) return a.isExpired ? 1 : -1;
  if (a.logId !== b.logId) return a.logId < b.logId ? -1 : 1;
  return a.partition - b.partition || a.month - b.month || a.nth - b.nth;
}

export async function copyChunk(
  { analytics, shadow, logId }: CopyDeps & { readonly analytics: Pick<Analytics, 'change'> },
  { starts, archived = [], expired = [] }: CopyPlan,
  request: ReplayRequest,
  chunk: ReplayChunk,
): Promise<void> {
  const { partition, month, nth } = chunk;
  if (chunk.isExpired) {
    const { replayId } = request;
    return insertExpired({ analytics, shadow }, { replayId, chunkOffsets: CHUNK_OFFSETS }, chunk, expired, archived);
  }
  const own = archived.filter((range) => range.logId === chunk.logId && range.partition === partition);
  const { sql, params } = copiedRows(logId, starts, request, own);
  await shadow.copy({
    condition:
      `${sql} AND log_id = {chunk_log:String} AND raw_partition = {chunk_partition:UInt32} AND toYYYYMM(received_at) = {chunk_month:UInt32} ` +
      'AND raw_offset >= {chunk_from:UInt64} AND raw_offset < {chunk_to:UInt64}',
    params: {
      ...params,
      chunk_log: chunk.logId,
      chunk_partition: partition,
      chunk_month: month,
      chunk_from: nth * CHUNK_OFFSETS,
      chunk_to: (nth + 1) * CHUNK_OFFSETS,
    },
    token: `copy:${request.replayId}:${chunk.logId}:${partition}:${month}:${nth}`,
  });
}
