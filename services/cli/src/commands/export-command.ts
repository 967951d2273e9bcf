import { EXPORT_FORMATS, EXPORT_KINDS } from '@weir/domain/dump/export-kinds';
import { Argument, type Command, Option } from 'commander';
import { type CommandContext, siteOption, sitePath } from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { type ExportSummary, exportFile } from '../export/export-file.ts';
import { megabytes } from '../export/export-progress.ts';

interface ExportOptions {
  readonly site: string;
  readonly since?: string;
  readonly until?: string;
  readonly filter: readonly string[];
  readonly format?: string;
  readonly to?: string;
}

const NOTES = `
What:
  events, sessions, profiles, payments   the rows of the table (docs/tables.md), for other programs
  everything                             a dump of all that is stored of the site, as ndjson. weir import reads it, also
                                         into another site or another Weir, and every report gives the same numbers
--since and --until apply to the time of an event or a payment, the start of a session, or the time when a profile was last seen.
In csv, a text that begins with = + - @ gets an apostrophe in front, because spreadsheets would run it as a formula.
A file is named FILE.part until it is complete. A name that ends in .gz is compressed. For s3:// the settings S3_ENDPOINT, S3_REGION
and S3_PATH_STYLE apply; credentials come from the usual places of the AWS SDK.

Examples:
  $ weir export events --site shop --to events.parquet
  $ weir export events --site shop --since 2026-11-01 --filter country:is:DE --format csv > november.csv
  $ weir export everything --site shop --to shop.ndjson.gz
  $ weir export events --site shop --to s3://exports/shop/events.parquet
  $ weir import shop.ndjson.gz --site shop2
`;

export function addExportCommand(program: Command, { io, client }: CommandContext): void {
  program
    .command('export')
    .description('write the rows of a site, or all its stored data, to a file')
    .addArgument(new Argument('<what>', 'what to export').choices(EXPORT_KINDS))
    .addOption(siteOption())
    .option('--since <time>', 'only rows at or after this time: ISO 8601, in UTC without an offset')
    .option('--until <time>', 'only rows before this time')
    .option(
      '--filter <filter>',
      'DIMENSION:OPERATOR:VALUE,VALUE, as in weir stats; for events and sessions; may be repeated',
      (text, earlier: string[]) => [...earlier, text],
      [],
    )
    .addOption(
      new Option('--format <format>', 'default: the ending of the name in --to, otherwise ndjson').choices(
        EXPORT_FORMATS,
      ),
    )
    .option('--to <file>', 'a file or s3://bucket/name; default: standard output')
    .addHelpText('after', NOTES)
    .action(async (kind: string, { site, to, format = formatOf(to), ...options }: ExportOptions) => {
      if (to === '') throw new CliError('--to must be a file or s3://bucket/name, not ""', EXIT.usage);
      if (to === undefined && format === 'parquet' && io.stdout.isTTY) {
        throw new CliError(
          'a terminal cannot show parquet: name a file with --to <file>, or choose another --format',
          EXIT.usage,
        );
      }
      const admin = client();
      const path = `${sitePath(site, 'export', kind)}?${exportQuery({ ...options, format })}`;
      const summary = await exportFile(io, admin, { path, to, interrupted: io.interruption() });
      io.stderr.write(humanSummary(summary));
    });
}

function formatOf(name = ''): string {
  return EXPORT_FORMATS.find((format) => name.replace(/\.gz$/, '').endsWith(`.${format}`)) ?? 'ndjson';
}

type Asked = Pick<ExportOptions, 'since' | 'until' | 'filter'> & { readonly format: string };

function exportQuery({ since, until, format, filter }: Asked): string {
  const query = new URLSearchParams({
    format,
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  });
  for (const text of filter) query.append('filter', text);
  return query.toString();
}

function humanSummary({ to, bytes, seconds }: ExportSummary): string {
  return `exported ${megabytes(bytes)} MB${to === undefined ? '' : ` to ${to}`} in ${seconds.toFixed(1)} s\n`;
}
