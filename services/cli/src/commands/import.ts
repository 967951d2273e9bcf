import { existsSync } from 'node:fs';
import { ACCESS_LOG_FORMATS, type AccessLogFormat } from '@weir/domain/access-log';
import { ACCESS_LOG_JSON_FIELDS } from '@weir/domain/access-log-json';
import { ASSET_EXTENSIONS } from '@weir/domain/access-log-skip';
import { type Command, Option } from 'commander';
import { type CommandContext, siteOption, withExamples } from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { type ImportSummary, importFile } from '../import/import-file.ts';
import { spoolToFile } from '../import/spool-to-file.ts';
import { fields, print } from '../output.ts';

interface ImportOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly format?: AccessLogFormat;
}

const jsonFields = Object.entries(ACCESS_LOG_JSON_FIELDS)
  .map(([field, names]) => `  ${field}: ${names.join(', ')}`)
  .join('\n');

const NOTES = `
Each GET that was answered 2xx or 3xx becomes a page view with source "import". Skipped, with counts: other methods, other
statuses, and assets (${[...ASSET_EXTENSIONS].join(' ')}).
An interrupted import goes on where it stopped when the same command is run again; the same file again adds nothing. A file is
known by its uncompressed content: a log that has grown is another file, so import logs that are complete (rotated).
Field names of JSON lines (the first one found counts; only time and target are required):
${jsonFields}`;

export function addImportCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    program.command('import <file>').description('read an access log as page views: plain, gzip or zstd; - is a pipe'),
    'weir import access.log.gz --site shop',
    'zcat access.log.*.gz | weir import - --site shop --format combined',
    'weir import caddy.jsonl --site shop --format json --json',
  )
    .addOption(siteOption())
    .addOption(new Option('--format <format>', 'default: each line tells').choices(ACCESS_LOG_FORMATS))
    .addHelpText('after', NOTES)
    .action(async (file: string, { json, site, format }: ImportOptions) => {
      const admin = client();
      // Before the pipe is read: a process that ends there would leave its copy behind.
      const interrupted = io.interruption();
      const spooled = file === '-' ? await spoolToFile(io.stdin, interrupted) : undefined;
      const path = spooled?.path ?? file;
      if (!existsSync(path)) throw new CliError(`no such file: ${path}`, EXIT.usage);
      try {
        print(io, json, await importFile(io, admin, { path, siteId: site, format, interrupted }), humanSummary);
      } finally {
        await spooled?.remove();
      }
    });
}

function humanSummary(summary: ImportSummary): string {
  const { lines, lines_before: before, skipped } = summary;
  const rest = lines - before;
  return [
    before >= lines ? 'This file was imported before: nothing was added.' : `Imported ${rest} lines.`,
    fields({
      'rows appended': summary.rows_appended,
      ...(before > 0 ? { 'lines dealt with before': before } : {}),
      ...Object.fromEntries(Object.entries(skipped).map(([reason, count]) => [`skipped: ${reason}`, count])),
      'bad lines': summary.bad_lines,
      seconds: summary.seconds.toFixed(2),
      ...(summary.queryable ? {} : { note: 'the last rows are still on their way: see weir status' }),
    }),
  ].join('\n');
}
