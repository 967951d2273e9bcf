import { ASSET_EXTENSIONS } from '@weir/domain/access-log/access-log-skip';
import { ACCESS_LOG_JSON_FIELDS } from '@weir/domain/access-log/json-line';
import { type Command, Option } from 'commander';
import { type CommandContext, siteOption, withExamples } from '../command-context.ts';
import { IMPORT_FORMATS, type ImportFormat, type ImportSummary, importFile } from '../import/import-file.ts';
import { isPipe, openLogFile, readPipe } from '../import/open-log-file.ts';
import { spoolToFile } from '../import/spool-to-file.ts';
import { fields, print } from '../output.ts';
import { showWaiting } from '../progress-bar.ts';

interface ImportOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly format?: ImportFormat;
}

const jsonFields = Object.entries(ACCESS_LOG_JSON_FIELDS)
  .map(([field, names]) => `  ${field}: ${names.join(', ')}`)
  .join('\n');

const NOTES = `
Each GET request with a 2xx or 3xx status becomes a pageview with source "import". Skipped lines are counted by reason:
  method, status: other methods, other statuses
  asset: favicon.*, apple-touch-icon* and ${[...ASSET_EXTENSIONS].join(' ')}
  robots, sitemap, feed, well_known, ads_txt: robots.txt, sitemap*.xml (.gz too), feeds (paths that end in feed, rss, atom, rdf,
    feed.xml, .rss and so on), /.well-known/, ads.txt and app-ads.txt
A bad line has another format, or a client that is neither an IP address nor a host name. Bad lines are counted; the first 10 are shown.
Formats, with the fields before the time. Without --format, the first 1,000 lines decide; a line that begins with { is JSON:
  combined, common    client ident user
  vhost_combined      host:port client ident user (Apache's other_vhosts_access.log)
  vhost               host client ident user
  ovh                 client host user
  json                one object per line
  weir                a dump of weir export everything. Its rows are stored unchanged. A row that the site already has is not
                      added again, even if it comes from another dump or became a dead letter that can be redriven. Exclusion rules do not
                      apply to a dump
The virtual host, without its port, becomes the hostname of the row and the host of its url. Otherwise the domain of the site is used.
bzip2, xz and zip are not supported: decompress them into a pipe.
Run an interrupted import again with the same command: it continues where it stopped. Importing a file again adds no rows. A file is
identified by its uncompressed content. A log that has grown is a different file, so import only complete (rotated) logs.
An empty file adds no rows, and the exit code is 0. An empty pipe is an error, because the program that writes to the pipe has probably failed.
Field names of JSON lines (the first name found counts; only time and target are required):
${jsonFields}`;

export function addImportCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    program
      .command('import <file>')
      .description(
        'import an access log as pageviews, or a dump of weir export everything: plain, gzip or zstd; - reads standard input',
      ),
    'weir import access.log.gz --site shop',
    'zcat access.log.*.gz | weir import - --site shop --format combined',
    'weir import other_vhosts_access.log --site shop --format vhost_combined',
    'bzip2 -dc access.log.bz2 | weir import - --site shop',
    'weir import caddy.jsonl --site shop --format json --json',
    'weir import shop.ndjson.gz --site shop2 --format weir',
  )
    .addOption(siteOption())
    .addOption(new Option('--format <format>', 'default: detected from the file').choices(IMPORT_FORMATS))
    .addHelpText('after', NOTES)
    .action(async (file: string, { json, site, format }: ImportOptions) => {
      const admin = client();
      // `interruption` is called before the pipe is read. Otherwise Ctrl-C would end the process without a message and with another exit code.
      const interrupted = io.interruption();
      const name = file === '-' ? 'standard input' : file;
      const pipe = file === '-' ? io.stdin : (await isPipe(file)) ? readPipe(file, interrupted) : undefined;
      const log =
        pipe === undefined
          ? await openLogFile(file)
          : await showWaiting(io, `reading ${name}`, spoolToFile(pipe, name, interrupted));
      try {
        print(io, json, await importFile(io, admin, { log, siteId: site, format, interrupted }), humanSummary);
      } finally {
        await log.close();
      }
    });
}

function humanSummary(summary: ImportSummary): string {
  const { lines, lines_before: before, skipped } = summary;
  const rest = lines - before;
  if (lines === 0) return 'The file contains nothing to import.';
  return [
    before >= lines ? 'This file was imported before: no rows were added.' : `Imported ${rest} lines.`,
    fields({
      'rows appended': summary.rows_appended,
      ...(before > 0 ? { 'lines imported before': before } : {}),
      ...Object.fromEntries(Object.entries(skipped).map(([reason, count]) => [`skipped: ${reason}`, count])),
      ...(summary.rows_known > 0
        ? { 'rows not added: the site has them, or their person was erased': summary.rows_known }
        : {}),
      'bad lines': summary.bad_lines,
      seconds: summary.seconds.toFixed(2),
      ...(summary.queryable ? {} : { note: 'the last rows are not stored yet: see weir status' }),
    }),
  ].join('\n');
}
