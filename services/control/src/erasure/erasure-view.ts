import type { Erasure } from '@weir/ports/registry';
import type { TopicRetention } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';

/**
 * After this time, no copy of the erased rows is left in replaced parts. A ClickHouse server keeps replaced parts for 8 minutes
 * (`old_parts_lifetime`), and looks for old parts at least every 5 minutes. The embedded engine removes them earlier.
 */
const OLD_PARTS_MS = 15 * 60_000;

/** Returns an erasure as the admin API shows it, with its receipt: what was removed from which table, and until when copies remain. */
export function erasureView(erasure: Erasure, { rawRetentionMs, enrichedRetentionMs }: TopicRetention): object {
  const { siteId, erasureId, at, whole, visitors, users, phase, removed, archive, finishedAt, detachedUntil, problem } =
    erasure;
  const until = (ms: number | undefined) => (ms === undefined ? null : formatTime(ms));
  return {
    erasure_id: erasureId,
    site_id: siteId,
    all: whole,
    visitors,
    users,
    received_until: formatTime(at),
    phase,
    problem: problem ? problem : null,
    finished_at: until(phase === 'done' ? finishedAt : undefined),
    removed,
    archive:
      archive === undefined
        ? null
        : {
            segments: archive.segments,
            rewritten: archive.rewritten,
            records: archive.records,
            parquet_files: archive.parquet?.rewritten ?? 0,
          },
    remains: [
      { kind: 'raw_topic', where: 'topic events.raw', until: until(at + rawRetentionMs) },
      { kind: 'enriched_topic', where: 'topic events.enriched', until: until(at + enrichedRetentionMs) },
      {
        kind: 'old_parts',
        where: 'parts of tables that ClickHouse has replaced',
        until: until(finishedAt === undefined ? undefined : finishedAt + OLD_PARTS_MS),
      },
      ...(detachedUntil === undefined
        ? []
        : [
            {
              kind: 'detached_parts',
              where: 'parts of tables that a repair after a loss of power has moved away',
              until: until(detachedUntil),
            },
          ]),
      {
        kind: 'free_space',
        where: 'free space in the files of the event log and of the state, until it is used again',
        until: null,
      },
      ...(archive === undefined
        ? [{ kind: 'archive', where: 'the archive (ARCHIVE_URL), if there is one', until: null }]
        : []),
      ...(archive?.parquet?.left
        ? [
            {
              kind: 'parquet',
              where: `${archive.parquet.left} Parquet files that can have rows which the tables do not have`,
              until: null,
            },
          ]
        : []),
      { kind: 'copies', where: 'your backups and exports, and your copies of logs', until: null },
      {
        kind: 'tombstones',
        where: 'registry: salted hashes of the IDs, so that no replay brings the records back',
        until: null,
      },
    ],
  };
}
