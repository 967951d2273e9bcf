import { GROUP_ARCHIVER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { AdminDeps } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';
import { ok, type Reply } from '../http/admin-reply.ts';
import { importView } from '../imports/import-view.ts';
import { replayView } from '../replay/replay-view.ts';
import { lagOf } from './lag-rate.ts';

const IMPORTS_SHOWN = 20;

/** Answers with disks, engines, imports, replay, archive and backup: what an operator watches, besides the consumers and the audit. */
export async function showInstallation(deps: AdminDeps): Promise<Reply> {
  const { installation, registry, backups } = deps;
  const replay = registry.replay();
  const imports = registry.sites().flatMap(({ siteId }) => registry.imports(siteId));
  const shown = imports
    .toSorted((a, b) => Number(a.finished) - Number(b.finished) || b.startedAt - a.startedAt)
    .slice(0, IMPORTS_SHOWN);
  return ok({
    disks: (await installation.disks()).map(({ name, freeBytes, totalBytes, reserveBytes }) => ({
      ...{ name, free_bytes: freeBytes, total_bytes: totalBytes, reserve_bytes: reserveBytes },
      is_full: freeBytes < reserveBytes,
    })),
    engines: installation.engines().map(({ engine, checkedAt, drift }) => ({
      engine,
      checked_at: checkedAt === undefined ? null : formatTime(checkedAt),
      drift,
    })),
    archive: await archiveView(deps),
    imports: shown.map(importView),
    replay: replay === undefined ? null : await replayView(deps, replay),
    backup: backups?.current() ?? null,
    can_back_up: backups !== undefined,
  });
}

/**
 * For each archived topic, how many records are not in the archive yet, and the error and the alarm of the archiver. Also the problem of the export
 * of Parquet files. Null if Weir does not archive.
 */
async function archiveView({ archive, eventLog, pipelineStatus, installation }: AdminDeps): Promise<object | null> {
  if (archive === undefined) return null;
  const archivers = (await pipelineStatus()).filter(({ consumer }) => consumer === GROUP_ARCHIVER);
  const topics = [TOPIC_RAW, TOPIC_ENRICHED].map(async (topic) => {
    const positions = await eventLog.positions(topic, GROUP_ARCHIVER);
    const partitions = archivers.find((one) => one.topic === topic)?.partitions ?? [];
    return {
      topic,
      lag: positions.reduce((sum, position) => sum + lagOf(position), 0),
      last_error: partitions.find(({ lastError }) => lastError !== undefined)?.lastError ?? null,
      alarm: partitions.find(({ alarm }) => alarm !== undefined)?.alarm ?? null,
    };
  });
  return { topics: await Promise.all(topics), parquet_problem: installation.parquetProblem() ?? null };
}
