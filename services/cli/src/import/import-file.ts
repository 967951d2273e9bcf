import type { AccessLogFormat } from '@weir/domain/access-log/access-log';
import type { AdminClient } from '../admin-client.ts';
import type { CliIo } from '../cli-io.ts';
import { sitePath } from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { patientCall } from '../patient-call.ts';
import { chunkLines, type LineChunk, newLineCounts } from './chunk-lines.ts';
import { detectLogFormat } from './detect-log-format.ts';
import { createImportProgress, type ImportProgress } from './import-progress.ts';
import { type LogFile, openLogFile } from './open-log-file.ts';
import { readLines } from './read-lines.ts';
import { scanLog } from './scan-log.ts';

export interface ImportSummary {
  readonly site_id: string;
  readonly file_digest: string;
  readonly lines: number;
  /** The number of lines that an earlier run imported or skipped. */
  readonly lines_before: number;
  readonly rows_appended: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly bad_lines: number;
  readonly seconds: number;
  /** True: the imported rows can be queried. */
  readonly queryable: boolean;
}

interface ImportFileOptions {
  readonly log: LogFile;
  readonly siteId: string;
  readonly format: AccessLogFormat | undefined;
  readonly interrupted: AbortSignal;
}

interface LedgerView {
  readonly lines_done: number;
  readonly hits_appended: number;
  readonly finished: boolean;
}

const BAD_LINES_SHOWN = 10;
/** Longer than the 10 s after which the lease of a killed import expires. */
const START_PATIENCE_MS = 15_000;

/** Imports a log file into a site. Continues after the last line that an earlier run of the same file imported. */
export async function importFile(io: CliIo, client: AdminClient, options: ImportFileOptions): Promise<ImportSummary> {
  const { log, siteId, interrupted } = options;
  const begun = io.clock();
  const { domain } = await client.call<{ domain: string }>('GET', sitePath(siteId));
  const { digest, lines } = await scanLog(openLogFile(log));
  const detected = options.format === undefined ? await detectLogFormat(log) : undefined;
  if (detected !== undefined) io.stderr.write(`detected format: ${detected}\n`);
  const format = options.format ?? detected;
  const sayWaiting = (reason: string) => io.stderr.write(`waiting: ${reason}\n`);
  const start = () =>
    client.call<LedgerView & { lease: string | null }>('POST', sitePath(siteId, 'imports'), { file_digest: digest });
  const ledger = await patientCall(start, io.clock, sayWaiting, interrupted, START_PATIENCE_MS);
  const importPath = (step: string) => sitePath(siteId, 'imports', digest, step);
  const counts = newLineCounts();

  let after: LedgerView = ledger;
  if (!ledger.finished) {
    if (ledger.lines_done > 0) io.stderr.write(`continuing after line ${ledger.lines_done}\n`);
    const progress = createImportProgress(io, lines, ledger.lines_done);
    const chunks = chunkLines(
      readLines(openLogFile(log)),
      ledger.lines_done,
      { format, domain },
      counts,
      (line, why) => {
        if (counts.bad <= BAD_LINES_SHOWN) progress.say(`line ${line}: ${why}`);
      },
    );
    const send = (chunk: LineChunk) => {
      const body = { lease: ledger.lease, ...chunk };
      return patientCall(
        () => client.call<LedgerView>('POST', importPath('chunks'), body),
        io.clock,
        progress.say,
        interrupted,
      );
    };
    try {
      after = await sendChunks(chunks, send, progress, interrupted, ledger);
    } finally {
      progress.stop();
      if (interrupted.aborted) await client.call('POST', importPath('release'), { lease: ledger.lease });
    }
    if (interrupted.aborted) {
      throw new CliError(
        `interrupted after line ${after.lines_done}: run the same command again to continue there`,
        EXIT.interrupted,
      );
    }
    if (counts.bad > BAD_LINES_SHOWN) io.stderr.write(`and ${counts.bad - BAD_LINES_SHOWN} more bad lines\n`);
  }
  const finish = { lease: ledger.lease ?? 'none', lines };
  const { queryable } = await patientCall(
    () => client.call<{ queryable: boolean }>('POST', importPath('finish'), finish),
    io.clock,
    sayWaiting,
    interrupted,
  );
  return {
    site_id: siteId,
    file_digest: digest,
    lines,
    lines_before: ledger.lines_done,
    rows_appended: after.hits_appended - ledger.hits_appended,
    skipped: counts.skipped,
    bad_lines: counts.bad,
    seconds: (io.clock() - begun) / 1000,
    queryable,
  };
}

/** Sends one chunk while the next one is read. */
async function sendChunks(
  chunks: AsyncIterable<LineChunk>,
  send: (chunk: LineChunk) => Promise<LedgerView>,
  progress: ImportProgress,
  interrupted: AbortSignal,
  ledger: LedgerView,
): Promise<LedgerView> {
  let sent: Promise<LedgerView> = Promise.resolve(ledger);
  for await (const chunk of chunks) {
    const after = await sent;
    progress.update(after.lines_done);
    if (interrupted.aborted) return after;
    sent = send(chunk);
    // The next iteration awaits this promise. Until then, a rejection must not count as unhandled.
    sent.catch(() => undefined);
  }
  const after = await sent;
  progress.update(after.lines_done);
  return after;
}
