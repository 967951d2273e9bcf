import { pipeline } from 'node:stream/promises';
import { messageOf } from '@weir/domain/errors';
import type { AdminClient } from '../admin-client.ts';
import type { CliIo } from '../cli-io.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { createExportProgress } from './export-progress.ts';
import { type ExportTarget, openFileTarget, openS3Target } from './export-target.ts';

export interface ExportSummary {
  /** The file or object. Undefined if the export was written to standard output. */
  readonly to: string | undefined;
  /** The size of the export before compression. */
  readonly bytes: number;
  readonly seconds: number;
}

interface ExportFileOptions {
  /** The path of the call in the admin API. */
  readonly path: string;
  /** A file or `s3://bucket/name`. If undefined, the export is written to standard output. */
  readonly to: string | undefined;
  readonly interrupted: AbortSignal;
}

/**
 * Writes an export to its target. If it fails or is interrupted, the incomplete file or object is removed, and the promise rejects with
 * `CliError`.
 */
export async function exportFile(io: CliIo, client: AdminClient, options: ExportFileOptions): Promise<ExportSummary> {
  const { path, to, interrupted } = options;
  const begun = io.clock();
  const source = await client.open(path, interrupted).catch((error: unknown) => {
    throw interrupted.aborted ? failure(error, interrupted) : error;
  });
  const target = await openTarget(io, to).catch((error: unknown) => {
    source.destroy();
    throw error;
  });
  const progress = createExportProgress(io);
  try {
    await pipeline([source, progress.counter, ...target.streams], { end: to !== undefined });
    await target.complete();
  } catch (error) {
    await target.discard();
    throw failure(error, interrupted);
  } finally {
    progress.stop();
  }
  return { to, bytes: progress.bytes(), seconds: (io.clock() - begun) / 1000 };
}

async function openTarget(io: CliIo, to: string | undefined): Promise<ExportTarget> {
  if (to?.startsWith('s3://')) return openS3Target(to, io.env);
  if (to !== undefined) return openFileTarget(to);
  return { streams: [io.stdout], complete: async () => undefined, discard: async () => undefined };
}

function failure(error: unknown, interrupted: AbortSignal): Error {
  if (interrupted.aborted) return new CliError('interrupted: the export is incomplete', EXIT.interrupted);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new CliError(`the export is incomplete: ${messageOf(cause)}; export again`);
}
