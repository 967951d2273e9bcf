import { once } from 'node:events';
import type { Command } from 'commander';
import { apiPath, type CommandContext, groupOf, withExamples } from '../command-context.ts';
import { print, table } from '../output.ts';
import { patientCall } from '../patient-call.ts';
import { readWholeNumber } from '../read-whole-number.ts';

interface TopicView {
  readonly name: string;
  readonly kind: string;
  readonly records: number | null;
  readonly retention_hours: number | null;
  readonly partitions: readonly {
    readonly partition: number;
    readonly records: number;
    readonly first_offset: number;
    readonly end_offset: number;
    readonly first_at: string | null;
    readonly last_at: string | null;
  }[];
}

interface RecordView {
  readonly partition: number;
  readonly offset: number | null;
  readonly appended_at: string | null;
  readonly bytes: number;
  readonly record: Readonly<Record<string, unknown>> | null;
  readonly problem: string | null;
}

interface PageView {
  readonly records: readonly RecordView[];
  readonly cursor: string;
  readonly at_end: boolean;
  readonly scanned: number;
}

interface TailOptions {
  readonly json?: boolean;
  readonly site?: string;
  readonly since?: string;
  readonly follow?: boolean;
  readonly limit?: number;
}

/** The admin API returns at most this many records in one answer. */
const PAGE_RECORDS_MAX = 1000;
const LIMIT_DEFAULT = 20;
const WAIT_SECONDS = 10;

export function addTopicsCommands(program: Command, context: CommandContext): void {
  const { io, client } = context;
  const topics = groupOf(
    program,
    'topics',
    'look into the topics of the event log',
    'weir topics list',
    'weir topics tail events.enriched --follow',
  );

  withExamples(
    topics.command('list').description('list the topics with the records, offsets and times of each partition'),
    'weir topics list',
    "weir topics list --json | jq '.[].records'",
  ).action(async ({ json }: { json?: boolean }) => {
    print(io, json, await client().call<TopicView[]>('GET', '/topics'), humanTopics);
  });

  withExamples(
    topics
      .command('tail <topic>')
      .description(
        'print the newest records of events.raw, events.enriched or registry, one per line; consumers are not affected',
      ),
    'weir topics tail events.enriched --site shop --follow',
    'weir topics tail events.raw --since 15m --limit 100',
    'weir topics tail events.enriched --since 2h --json | jq -r \'select(.record.outcome == "dropped") | .record.reason\'',
  )
    .option('-s, --site <site_id>', 'only records of this site')
    .option(
      '--since <time>',
      'start at this time: 90s, 15m, 2h or 3d ago, or an ISO 8601 time; default: only the newest records, at most 1,000',
    )
    .option('-f, --follow', 'wait for further records, until Ctrl-C or --limit')
    .option(
      '-n, --limit <count>',
      `stop after this number of records; default: ${LIMIT_DEFAULT}, with --since or --follow no limit`,
      readWholeNumber(999_999_999),
    )
    .action((topic: string, options: TailOptions) => tail(context, topic, options));
}

function humanTopics(topics: readonly TopicView[]): string {
  const heads = ['topic', 'partition', 'records', 'first offset', 'end offset', 'first record', 'last record', 'kept'];
  const rows = topics.flatMap(({ name, kind, records, retention_hours: hours, partitions }) => {
    if (kind === 'table') return [[name, '', records ?? '', '', '', '', '', 'last row of each key']];
    return partitions.map((row) => [
      name,
      row.partition,
      row.records,
      row.first_offset,
      row.end_offset,
      row.first_at,
      row.last_at,
      `${hours} h`,
    ]);
  });
  return table(heads, rows);
}

async function tail({ io, client }: CommandContext, topic: string, options: TailOptions): Promise<void> {
  const { site, since, follow = false } = options;
  const max = options.limit ?? (since === undefined && !follow ? LIMIT_DEFAULT : Number.POSITIVE_INFINITY);
  const admin = client();
  const path = apiPath('topics', topic, 'records');
  const ask = (limit: number, from: Readonly<Record<string, string>>) => {
    const query = {
      ...(site !== undefined && { site }),
      ...from,
      ...(follow && { wait: String(WAIT_SECONDS) }),
      limit: String(limit),
    };
    return admin.call<PageView>('GET', `${path}?${new URLSearchParams(query)}`);
  };

  const first = Math.min(max, since === undefined && options.limit === undefined ? LIMIT_DEFAULT : PAGE_RECORDS_MAX);
  let page = await ask(first, since === undefined ? {} : { since });
  let printed = 0;
  for (;;) {
    for (const record of page.records) await printRecord(record);
    printed += page.records.length;
    if (printed >= max || (page.at_end && !follow)) break;
    const { cursor } = page;
    const next = () => ask(Math.min(max - printed, PAGE_RECORDS_MAX), { after: cursor });
    // The call is retried, because Weir may be restarting. Reading from the same cursor again is safe.
    page = await patientCall(next, { clock: io.clock, onWait: note, interrupted: new AbortController().signal });
  }
  if (printed === 0) note(emptyNote(page.scanned, options));
  else if (!page.at_end && options.limit === undefined)
    note(`stopped after ${printed} records: --limit <count> prints more`);

  function note(text: string): void {
    io.stderr.write(`weir: ${text}\n`);
  }

  async function printRecord(record: RecordView): Promise<void> {
    const line = options.json ? toJson(record) : humanRecord(record);
    // Waits if the program that reads the output is slow. Otherwise the process would keep all records in memory.
    if (!io.stdout.write(`${line}\n`)) await once(io.stdout, 'drain');
  }
}

function emptyNote(scanned: number, { site, since }: TailOptions): string {
  if (site === undefined || since !== undefined) return `no records${site === undefined ? '' : ` of ${site}`}`;
  return `no records of ${site} among the newest ${scanned}: --since 1h looks further back`;
}

function humanRecord({ partition, offset, appended_at: time, bytes, record, problem }: RecordView): string {
  const place = offset === null ? [] : [time, `${partition}/${offset}`];
  const shown = record === null ? `[${bytes} bytes not shown] ${problem}` : toJson(withoutEmpty(record));
  return [...place, shown].join(' ');
}

/** Removes empty columns, because most columns of an outcome are empty. */
function withoutEmpty(record: Readonly<Record<string, unknown>>): object {
  const isEmpty = (value: unknown): boolean => value === '' || value === null || JSON.stringify(value) === '{}';
  return Object.fromEntries(Object.entries(record).filter(([, value]) => !isEmpty(value)));
}

/**
 * Formats a value as JSON. Also escapes the control characters and the marks of writing direction that JSON.stringify keeps, because they
 * must not reach the terminal.
 */
function toJson(value: object): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
