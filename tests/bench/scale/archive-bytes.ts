import { join } from 'node:path';
import { sendBatches } from './grow-rows.ts';
import { BATCH_EVENTS } from './scale-events.ts';
import { bytesOnDisk, type ScaleWeir } from './scale-weir.ts';

export const ARCHIVED_EVENTS = 200_000;

/** Bytes in the archive for each event. */
export interface ArchiveBytes {
  readonly raw: number;
  readonly enriched: number;
}

/** Sends events to a Weir whose archive is the folder `archive`, until all of them are archived and stored. */
export async function measureArchive(weir: ScaleWeir, archive: string): Promise<ArchiveBytes> {
  await sendBatches(weir, ARCHIVED_EVENTS / BATCH_EVENTS);
  await weir.untilConsumed('archiver_raw', weir.acknowledged);
  await weir.untilConsumed('archiver_enriched', weir.acknowledged);
  await weir.untilStored();
  const bytesOf = (topic: string): number => bytesOnDisk(join(archive, topic)) / weir.acknowledged;
  return { raw: bytesOf('events.raw'), enriched: bytesOf('events.enriched') };
}
