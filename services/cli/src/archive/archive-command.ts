import { isDependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';
import { type ArchivedPartition, summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { listExpiredStarts } from '@weir/runtime/archive/expired-start';
import { verifySegment } from '@weir/runtime/archive/read-segment';
import { parseSegmentName, type SegmentRange, segmentFolder } from '@weir/runtime/archive/segment-name';
import type { Command } from 'commander';
import type { CliIo } from '../cli-io.ts';
import { type CommandContext, groupOf, withExamples } from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { objectsUrl, placeName, withObjects } from '../open-objects.ts';
import { print, table } from '../output.ts';

const NOTES = `
<place> is the value of ARCHIVE_URL, or a folder. Both commands run here and need no running Weir. For s3:// the settings S3_ENDPOINT, S3_REGION and
S3_PATH_STYLE apply.`;

export function addArchiveCommands(program: Command, { io }: CommandContext): void {
  const archive = groupOf(
    program,
    'archive',
    'look into the archive of the topics',
    'weir archive verify /mnt/archive',
  );
  archive.addHelpText('afterAll', NOTES);

  withExamples(
    archive.command('list <place>').description('print the archived offsets of each partition, and the gaps'),
    'weir archive list s3://archive/weir',
  ).action(async (place: string, { json }: { json?: boolean }) => {
    const partitions = await withObjects(objectsUrl(place), io.env, summariseArchive);
    print(io, json, partitions, (found) =>
      table(
        ['topic', 'log', 'partition', 'segments', 'bytes', 'expired', 'offsets', 'gaps'],
        found.map((one) => [
          one.topic,
          one.logId.slice(0, 8),
          one.partition,
          one.segments,
          one.bytes,
          one.expiredBefore === 0 ? '' : `0-${one.expiredBefore - 1}`,
          one.ranges.length === 0 ? '' : `${one.ranges[0]?.[0]}-${one.ranges.at(-1)?.[1]}`,
          gapsOf(one),
        ]),
        noSegments(place),
      ),
    );
  });

  withExamples(
    archive
      .command('verify <place>')
      .description(
        'read every segment and compare it with its checksum; exit code 1 if one is damaged or there is none',
      ),
    'weir archive verify /mnt/archive',
  ).action(async (place: string, { json }: { json?: boolean }) => {
    const result = await withObjects(objectsUrl(place), io.env, (objects) => verifyAll(objects, io));
    if (result.segments === 0) {
      throw new CliError(noSegments(place), EXIT.failed);
    }
    print(io, json, result, ({ segments, damaged }) =>
      damaged.length === 0 ? `${segments} segments are complete and undamaged.` : damaged.join('\n'),
    );
    if (result.damaged.length > 0) throw new CliError(`damaged segments: ${result.damaged.length}`, EXIT.failed);
  });
}

function noSegments(place: string): string {
  return `${placeName(place)} has no segments of an archive: give the value of ARCHIVE_URL`;
}

/**
 * The offsets that are missing in the archive. Either the retention of the topic deleted their records before these were archived, or their segment
 * (the object with these records) was lost. Offsets that have expired in the archive (`ARCHIVE_RETENTION_DAYS`) do not count.
 */
function gapsOf({ ranges, expiredBefore }: ArchivedPartition): string {
  return ranges
    .map(([from], index) => [index === 0 ? expiredBefore : (ranges[index - 1]?.[1] ?? 0) + 1, from - 1] as const)
    .filter(([from, to]) => from <= to)
    .map(([from, to]) => `${from}-${to}`)
    .join(', ');
}

interface Verified {
  readonly segments: number;
  readonly damaged: readonly string[];
}

async function verifyAll(objects: ObjectStore, io: CliIo): Promise<Verified> {
  const ranges: SegmentRange[] = [];
  for await (const { name } of objects.list('')) {
    const range = parseSegmentName(name);
    if (range !== undefined) ranges.push(range);
  }
  const failed: { readonly range: SegmentRange; readonly message: string }[] = [];
  for (const [index, range] of ranges.entries()) {
    try {
      await verifySegment(objects, range);
    } catch (error) {
      if (!isDependencyError(error, 'object_store_damaged')) throw error;
      failed.push({ range, message: error.message });
    }
    if (io.stderr.isTTY) io.stderr.write(`\r${index + 1} of ${ranges.length} segments`);
  }
  if (io.stderr.isTTY) io.stderr.write('\n');
  // The archiver can have deleted some of these segments since they were listed, because ARCHIVE_RETENTION_DAYS was over.
  const starts = failed.length === 0 ? [] : await readableStarts(objects, io);
  const isExpired = (range: SegmentRange): boolean =>
    starts.some((start) => segmentFolder(start) === segmentFolder(range) && range.to < start.next);
  const damaged = failed.filter(({ range }) => !isExpired(range));
  return {
    segments: ranges.length - failed.length + damaged.length,
    damaged: damaged.map(({ message }) => message),
  };
}

/**
 * Returns where each partition of the archive begins after the deletions of `ARCHIVE_RETENTION_DAYS`. Returns an empty list if one of the objects
 * with these starts is damaged: then no segment counts as deleted.
 */
async function readableStarts(objects: ObjectStore, io: CliIo) {
  try {
    return await listExpiredStarts(objects);
  } catch (error) {
    if (!isDependencyError(error, 'object_store_damaged')) throw error;
    io.stderr.write(`${error.message}\n`);
    return [];
  }
}
