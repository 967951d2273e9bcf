import type { Command } from 'commander';
import { type CommandContext, withExamples } from '../command-context.ts';
import { print, table } from '../output.ts';

interface TopicView {
  readonly topic: string;
  readonly lag: number;
  readonly last_error: string | null;
  readonly alarm: string | null;
}

interface ConsumerView extends TopicView {
  readonly consumer: string;
  readonly rate_per_second: number;
  readonly dead_letters: number | null;
}

interface InstallationView {
  /** Null if Weir does not archive. */
  readonly archive: { readonly topics: readonly TopicView[]; readonly parquet_problem: string | null } | null;
}

export function addStatusCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    program
      .command('status')
      .description(
        'print the state of the pipeline: lag, rate, last error, dead letters; without --json, also the state of the archive',
      ),
    'weir status',
    "weir status --json | jq '[.[].lag] | add'",
  ).action(async ({ json }: { json?: boolean }) => {
    const admin = client();
    const consumers = await admin.call<ConsumerView[]>('GET', '/pipeline');
    print(io, json, consumers, consumersTable);
    if (json) return;
    // The first table is printed before this call, because the call needs more parts of Weir, and can fail during a fault.
    const { archive } = await admin.call<InstallationView>('GET', '/installation');
    if (archive !== null) print(io, json, archive, (shown) => `\n${archiveText(shown)}`);
  });
}

function consumersTable(consumers: readonly ConsumerView[]): string {
  return table(
    ['topic', 'consumer', 'lag', 'records/s', 'dead letters', 'last error'],
    consumers.map((row) => [
      row.topic,
      row.consumer,
      row.lag,
      row.rate_per_second,
      row.dead_letters ?? '?',
      errorOf(row),
    ]),
  );
}

/** The records that the archiver has not archived yet. Records wait for the end of their segment, so this number is often above 0. */
function archiveText({ topics, parquet_problem }: NonNullable<InstallationView['archive']>): string {
  const rows = topics.map((row) => [row.topic, row.lag, errorOf(row)]);
  const text = table(['archived topic', 'not archived yet', 'last error'], rows);
  return parquet_problem ? `${text}\n\n${parquet_problem}` : text;
}

const errorOf = ({ alarm, last_error }: TopicView): string => alarm ?? last_error ?? 'none';
