import type { ImportLedgerEntry } from '@weir/ports/registry';
import { formatTime } from '../format-time.ts';

export function importView(entry: ImportLedgerEntry) {
  return {
    site_id: entry.siteId,
    file_digest: entry.fileDigest,
    started_at: formatTime(entry.startedAt),
    lines_done: entry.linesDone,
    hits_appended: entry.hitsAppended,
    finished: entry.finished,
  };
}
