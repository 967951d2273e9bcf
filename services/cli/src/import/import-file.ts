import { ACCESS_LOG_FORMATS } from '@weir/domain/access-log/access-log';
import type { AdminClient } from '../admin-client.ts';
import type { CliIo } from '../cli-io.ts';
import { sitePath } from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { patientCall } from '../patient-call.ts';
import { createLaterProgress, createProgress, type Progress } from '../progress-bar.ts';
import { chunkLines, type LineChunk, newLineCounts } from './chunk-lines.ts';
import { chunkRows, dumpRows, dumpTimezone, type RowChunk } from './chunk-rows.ts';
import { createSendChunk } from './create-send-chunk.ts';
import { detectLogFormat } from './detect-log-format.ts';
import { firstOfBadLines } from './first-of-bad-lines.ts';
import type { LogFile } from './open-log-file.ts';
import { readLines } from './read-lines.ts';
import { readLogBytes, throwIfInterrupted } from './read-log-bytes.ts';
import { type LogScan, scanLog } from './scan-log.ts';

export interface ImportSummary {
  readonly site_id: string;
  readonly file_digest: string;
  readonly lines: number;
  /** The number of lines that earlier runs imported or skipped. */
  readonly lines_before: number;
  readonly rows_appended: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly bad_lines: number;
  /** The number of rows of a dump that were not added: the site already had them, or their person was erased. */
  readonly rows_known: number;
  readonly seconds: number;
  /** True if the imported rows can be queried. */
  readonly queryable: boolean;
}

/** The formats of access logs, and `weir`: a dump of `weir export everything`. */
export const IMPORT_FORMATS = [...ACCESS_LOG_FORMATS, 'weir'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

interface ImportFileOptions {
  readonly log: LogFile;
  readonly siteId: string;
  readonly format: ImportFormat | undefined;
  readonly interrupted: AbortSignal;
}

interface LedgerView {
  readonly lines_done: number;
  readonly hits_appended: number;
  readonly finished: boolean;
}

const BAD_LINES_SHOWN = 10;
const MB = 1_000_000;

/** Imports an access log or a dump into a site. Continues after the last line of the same file that an earlier run imported or skipped. */
export async function importFile(io: CliIo, client: AdminClient, options: ImportFileOptions): Promise<ImportSummary> {
  const { log, siteId, interrupted } = options;
  const begun = io.clock();
  const site = await client.call<{ domain: string; timezone: string }>('GET', sitePath(siteId));
  const scan = await scanWithProgress(io, log, interrupted);
  const { digest } = scan;
  const format = await formatOf(io, options, site.timezone);
  // Weir imports the same file only once. So a file that cannot be read in this format must not count as imported.
  const bad = format === 'weir' ? undefined : await firstOfBadLines(log, { format, domain: site.domain }, interrupted);
  if (bad !== undefined) {
    const wanted = format ?? 'combined, common or JSON';
    throw new CliError(
      `no line can be read as ${wanted}, so nothing was imported (${bad}): check the file, and --format`,
    );
  }
  throwIfInterrupted(interrupted);
  const lines = format === 'weir' ? dumpRows(scan) : scan.lines;
  const onWait = (reason: string): unknown => io.stderr.write(`waiting: ${reason}\n`);
  const patience = { clock: io.clock, onWait, interrupted };
  const start = () =>
    client.call<LedgerView & { lease: string | null }>('POST', sitePath(siteId, 'imports'), { file_digest: digest });
  // The call is retried for two reasons. If an import of this file was killed, its lease (the sole right to import this file) expires only after
  // 10 s. And while the processes of Weir elect the one that accepts imports, Weir can refuse the call after 20 s.
  const ledger = await patientCall(start, {
    ...patience,
    stopped: () => new CliError('interrupted before a line was sent: run the same command again', EXIT.interrupted),
  });
  const importPath = (step: string) => sitePath(siteId, 'imports', digest, step);
  const counts = newLineCounts();

  let after: LedgerView = ledger;
  if (!ledger.finished) {
    if (ledger.lines_done > 0) io.stderr.write(`continuing after line ${ledger.lines_done}\n`);
    const progress = createProgress(io, 'lines', lines, ledger.lines_done);
    const chunks =
      format === 'weir'
        ? chunkRows(log, lines, ledger.lines_done, interrupted)
        : chunkLines(
            readLines(readLogBytes(log, interrupted)),
            { from: ledger.lines_done, to: lines },
            { format, domain: site.domain },
            counts,
            (line, why) => {
              if (counts.bad <= BAD_LINES_SHOWN) progress.say(`line ${line}: ${why}`);
            },
          );
    const send = createSendChunk(
      (chunk) => client.call<LedgerView>('POST', importPath('chunks'), { lease: ledger.lease, ...chunk }),
      (call) => patientCall(call, { ...patience, onWait: progress.say }),
    );
    // A failed release must not replace the result or the error of the import. The lease then expires by itself.
    const release = () =>
      client
        .call('POST', importPath('release'), { lease: ledger.lease })
        .catch((error: Error) =>
          io.stderr.write(`${error.message}: the file can be imported again after 10 seconds\n`),
        );
    try {
      after = await sendChunks(chunks, send, progress, interrupted, ledger);
    } catch (error) {
      if (!interrupted.aborted) throw error;
    } finally {
      progress.stop();
      if (interrupted.aborted) await release();
    }
    if (interrupted.aborted) throw stopped(after === ledger ? '' : ` after line ${after.lines_done}`);
    if (counts.bad > BAD_LINES_SHOWN) io.stderr.write(`and ${counts.bad - BAD_LINES_SHOWN} more bad lines\n`);
  }
  const finish = { lease: ledger.lease ?? 'none', lines };
  const { queryable } = await patientCall(
    () => client.call<{ queryable: boolean }>('POST', importPath('finish'), finish),
    { ...patience, stopped: () => stopped(` after line ${after.lines_done}`) },
  );
  const appended = after.hits_appended - ledger.hits_appended;
  return {
    site_id: siteId,
    file_digest: digest,
    lines,
    lines_before: ledger.lines_done,
    rows_appended: appended,
    rows_known: format === 'weir' ? after.lines_done - ledger.lines_done - appended : 0,
    skipped: counts.skipped,
    bad_lines: counts.bad,
    seconds: (io.clock() - begun) / 1000,
    queryable,
  };
}

async function scanWithProgress(io: CliIo, log: LogFile, interrupted: AbortSignal): Promise<LogScan> {
  const { size } = await log.handle.stat();
  const progress = createLaterProgress(io, 'MB', 0);
  const onRead = (bytes: number): void => progress.update(Math.ceil(bytes / MB), Math.ceil(size / MB));
  try {
    return await scanLog(readLogBytes(log, interrupted, onRead));
  } finally {
    progress.stop();
  }
}

/** Returns the requested or detected format. If it is undefined, each line is read in the format that it matches. */
async function formatOf(io: CliIo, options: ImportFileOptions, timezone: string): Promise<ImportFormat | undefined> {
  const { log, siteId } = options;
  const dumped = options.format === undefined || options.format === 'weir' ? await dumpTimezone(log) : undefined;
  if (options.format === 'weir' && dumped === undefined) {
    throw new CliError('the file is not a dump of weir export everything: --format weir reads only such dumps');
  }
  if (dumped !== undefined && dumped !== timezone) {
    io.stderr.write(
      `the days of reports will differ: the dump has the time zone ${dumped}, the site ${timezone} (weir site set ${siteId} --timezone ${dumped})\n`,
    );
  }
  if (options.format !== undefined) return options.format;
  const detected = dumped === undefined ? await detectLogFormat(log) : 'weir';
  if (detected !== undefined) io.stderr.write(`detected format: ${detected}\n`);
  return detected;
}

function stopped(where: string): CliError {
  return new CliError(`interrupted${where}: run the same command again to continue there`, EXIT.interrupted);
}

/** Sends the chunks in order. While one chunk is sent, the next one is read. */
async function sendChunks(
  chunks: AsyncIterable<LineChunk | RowChunk>,
  send: (chunk: LineChunk | RowChunk) => Promise<LedgerView>,
  progress: Progress,
  interrupted: AbortSignal,
  ledger: LedgerView,
): Promise<LedgerView> {
  let sent: Promise<LedgerView> = Promise.resolve(ledger);
  try {
    for await (const chunk of chunks) {
      const after = await sent;
      progress.update(after.lines_done);
      if (interrupted.aborted) return after;
      sent = send(chunk);
      // The next iteration awaits this promise. Until then, a rejection must not count as unhandled.
      sent.catch(() => undefined);
    }
  } catch (error) {
    // After an interruption, the chunk that is being sent still counts in the result.
    if (!interrupted.aborted) throw error;
  }
  const after = await sent;
  progress.update(after.lines_done);
  return after;
}
