import { type Command, Option } from 'commander';
import { LONG_CALL_TIMEOUT_MS } from '../admin-client.ts';
import { type CommandContext, withExamples } from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { fields, print, table } from '../output.ts';
import { showWaiting } from '../progress-bar.ts';

interface AuditView {
  readonly balanced: boolean;
  readonly partitions: readonly {
    readonly log_id: string;
    readonly partition: number;
    /** From this raw offset (docs/glossary.md) on, the rows were compared one by one. Of the rows before it, only the number was compared. */
    readonly compared_from: number;
    readonly checkpoint_at: string | null;
    readonly received: number;
    readonly outcomes: number;
    readonly in_flight: number;
    readonly missing: number;
    readonly repeated: number;
    readonly balanced: boolean;
  }[];
  readonly totals: {
    readonly received: number;
    readonly stored: number;
    readonly identify: number;
    readonly duplicate: number;
    readonly dropped: Readonly<Record<string, number>>;
    readonly dead: Readonly<Record<string, number>>;
    /** Dead letters that were redriven: their records were appended again, and are counted under their new outcomes. */
    readonly redriven: number;
    readonly erased: number;
    readonly expired: number;
    readonly in_flight: number;
    /**
     * Records that a running erasure or expiry deletes next. Until then they are counted twice: as erased or expired, and under their
     * former outcome.
     */
    readonly erasing: number;
    /** Records about which Weir has no other information, because they had expired in the archive before the tables were restored from it. */
    readonly expired_in_archive: number;
    readonly redriven_twice: number;
  };
}

interface ReportsView {
  readonly agree: boolean;
  readonly compared: readonly {
    readonly site_id: string;
    readonly day: string;
    readonly reports: number;
    readonly differing: readonly string[];
  }[];
}

interface AuditOptions {
  readonly json?: boolean;
  readonly since?: string;
  readonly reports?: boolean;
  readonly site?: string;
  readonly days?: string;
}

export function addAuditCommand(program: Command, { io, client, exitWith }: CommandContext): void {
  const ask = <T>(path: string, what: string): Promise<T> =>
    showWaiting(io, `Weir compares ${what}`, client().call<T>('GET', path, undefined, LONG_CALL_TIMEOUT_MS));

  async function auditReports({ site, days, json }: AuditOptions): Promise<void> {
    const sent = Object.entries({ site, days }).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const audit = await ask<ReportsView>(`/audit/reports?${new URLSearchParams(sent)}`, 'reports');
    print(io, json, audit, humanReports);
    if (!audit.agree) exitWith(EXIT.unbalanced);
  }
  withExamples(
    program
      .command('audit')
      .description('check that every accepted record has exactly one outcome (exit code 4 if not)')
      .option(
        '--since <time>',
        'compare only the records from the last checkpoint before this time on (15m, 2h, 3d, or ISO 8601)',
      )
      .addOption(
        new Option(
          '--reports',
          'compare reports from the table visit_slots with reports from the rows, for some random days (exit code 4 if they differ)',
        ).conflicts('since'),
      )
      .option('--site <site>', 'with --reports: only this site')
      .option('--days <number>', 'with --reports: the number of days of each site (default: 3)'),
    'weir audit',
    'weir audit --since 2h',
    'weir audit --reports --site shop --days 10',
    'weir audit --json',
  ).action(async (options: AuditOptions) => {
    const { json, since, reports, site, days } = options;
    if (reports) return auditReports(options);
    if (site !== undefined || days !== undefined) throw new CliError('--site and --days need --reports', EXIT.usage);
    const query = since === undefined ? '' : `?${new URLSearchParams({ since })}`;
    const audit = await ask<AuditView>(`/audit${query}`, 'records');
    print(io, json, audit, (view) => humanAudit(view, since !== undefined));
    if (!audit.balanced) exitWith(EXIT.unbalanced);
  });
}

function humanReports({ agree, compared }: ReportsView): string {
  if (compared.length === 0) return 'no site has built days: reports read only rows';
  const rows = compared.map(({ site_id: site, day, reports, differing }) => [
    site,
    day,
    reports,
    differing.length === 0 ? 'equal' : `DIFFERENT: ${differing.join(', ')}`,
  ]);
  return `${table(['site', 'day', 'reports', ''], rows)}\n${agree ? 'The reports agree.' : 'The reports differ.'}`;
}

function humanAudit({ balanced, partitions, totals }: AuditView, isSince: boolean): string {
  const { dropped, dead, in_flight: inFlight, expired_in_archive: gone, ...rest } = totals;
  const { redriven_twice: redrivenTwice, ...counts } = rest;
  const heads = [
    'log',
    'partition',
    ...(isSince ? ['from', 'checkpoint'] : []),
    'received',
    'outcomes',
    'in flight',
    'missing',
    'repeated',
    '',
  ];
  const rows = partitions.map((row) => [
    row.log_id.slice(0, 8),
    row.partition,
    ...(isSince ? [row.compared_from, row.checkpoint_at ?? 'none'] : []),
    row.received,
    row.outcomes,
    row.in_flight,
    row.missing,
    row.repeated,
    row.balanced ? 'balanced' : 'NOT BALANCED',
  ]);
  return [
    table(heads, rows),
    '',
    fields({ ...counts, ...labelled('dropped', dropped), ...labelled('dead', dead), 'in flight': inFlight }),
    ...(redrivenTwice === 0 ? [] : ['', `${redrivenTwice} dead letters are stored more than once.`]),
    '',
    balanced
      ? 'OK: every record has exactly one outcome or is in flight.'
      : 'NOT BALANCED: records are missing or repeated (see the table above and docs/exactly-once.md).',
    ...(isSince ? ['Of the records before the checkpoints, only the number of rows was compared.'] : []),
    ...(gone > 0
      ? [`${gone} of the expired records had expired in the archive: their rows could not be restored.`]
      : []),
  ].join('\n');
}

function labelled(label: string, counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).map(([reason, count]) => [`${label}: ${reason}`, count]));
}
