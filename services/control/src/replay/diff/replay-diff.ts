import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import { highestReplayed } from '../replay-filler.ts';
import { DIFF_COLUMNS, VERSION_STEPS } from './diff-columns.ts';

export interface DiffDeps {
  readonly analytics: Pick<Analytics, 'select'>;
  readonly shadow: Pick<ShadowTables, 'analytics' | 'live' | 'shadow'>;
  readonly logId: string;
}

/** The differences between the shadow tables (docs/glossary.md) that a replay fills (`new`) and the live tables (`old`). */
export interface ReplayDiff {
  readonly replay_id: string;
  /** The counts of each day (UTC) that has rows. */
  readonly days: readonly DayDiff[];
  /** Column values that the two sets of tables have in different numbers of records, the largest difference first. At most `valuesMax` per column. */
  readonly changes: readonly ValueDiff[];
  /** The versions of the code, user agent library, lists and geo data that made the rows, by day. Only versions whose number of rows differs. */
  readonly versions: readonly VersionDiff[];
}

interface DayDiff {
  readonly day: string;
  readonly old: DayCounts;
  readonly new: DayCounts;
}

interface DayCounts {
  readonly rows: number;
  readonly visitors: number;
  readonly sessions: number;
}

interface ValueDiff {
  /** The step of the enricher that fills the column. */
  readonly step: string;
  readonly column: string;
  readonly value: string;
  readonly old: number;
  readonly new: number;
}

interface VersionDiff {
  readonly day: string;
  /** `steps`, `ua`, `lists` or `geo`. It is `enrichment` if the column `enrichment` has another form. */
  readonly part: string;
  readonly version: string;
  /** The steps of the enricher whose values the part can change. */
  readonly steps: readonly string[];
  readonly old: number;
  readonly new: number;
}

type Counted = {
  readonly name: string;
  readonly value: string;
  readonly old: number | string;
  readonly new: number | string;
};

/**
 * Called with the number of finished steps of a diff, and the number of all its steps. It can throw an error, which ends the
 * diff.
 */
export type ReportSteps = (done: number, total: number) => void;

/**
 * Compares the records up to the newest record that the replay has written. Call it only if all older records have been copied or
 * replayed.
 */
export async function replayDiff(
  deps: DiffDeps,
  { request }: Replay,
  { starts }: ReplayState,
  valuesMax: number,
  report: ReportSteps,
): Promise<ReplayDiff> {
  const { analytics, shadow, logId } = deps;
  const ends = await Promise.all(
    starts.map(async (start, partition) =>
      Math.max(start.rawEnd, (await highestReplayed(shadow, logId, partition, start, request)) + 1),
    ),
  );
  const params = { log: logId, partitions: starts.length, ends, limit: valuesMax };
  const spans = await spansOf(deps, params);
  const columnsOfSteps = Object.entries(DIFF_COLUMNS);
  const total = spans.length + columnsOfSteps.length + 2;
  let done = 0;
  async function step<T>(work: () => Promise<T>): Promise<T> {
    // If no client waits for the diff any more, `report` throws. It is called before the statement begins, so that no unneeded statement
    // runs.
    report(done, total);
    const result = await work();
    done += 1;
    return result;
  }

  const days: DayDiff[] = [];
  for (const span of spans) days.push(...(await step(() => daysOf(deps, { ...params, ...span }))));
  const changed = await step(() => changedColumns(deps, params));
  const changes: ValueDiff[] = [];
  for (const [name, columns] of columnsOfSteps) {
    const found = await step(() =>
      valuesOf(
        deps,
        columns.filter((column) => changed.has(column)),
        params,
      ),
    );
    changes.push(...found.map((row) => ({ step: name, column: row.name, value: row.value, ...numbers(row) })));
  }
  const versions = await step(() =>
    analytics.select<Counted & { readonly day: string }>(
      `SELECT day, part.1 AS name, part.2 AS value, sum(o) AS old, sum(n) AS new
       FROM (SELECT day, arrayJoin(${PARTS_OF_VERSION}) AS part, o, n FROM (${both(
         deps,
         (database, isNew) =>
           `SELECT toString(toDate(timestamp, 'UTC')) AS day, enrichment, toInt64(${isNew === 0 ? 'count()' : '0'}) AS o, toInt64(${isNew === 1 ? 'count()' : '0'}) AS n
            FROM ${database}.records WHERE ${WITHIN} AND outcome = 'row' GROUP BY day, enrichment`,
       )}))
       GROUP BY day, name, value HAVING old != new ORDER BY day, name, value LIMIT ${VERSIONS_MAX}`,
      params,
    ),
  );

  return {
    replay_id: request.replayId,
    days,
    changes: changes.sort((a, b) => Math.abs(b.new - b.old) - Math.abs(a.new - a.old)),
    versions: versions.map((row) => {
      const { day, name: part, value: version } = row;
      return { day, part, version, steps: VERSION_STEPS[part] ?? [], ...numbers(row) };
    }),
  };
}

type Params = Readonly<Record<string, unknown>>;

function both({ shadow }: DiffDeps, select: (database: string, isNew: 0 | 1) => string): string {
  return `${select(shadow.live, 0)} UNION ALL ${select(shadow.shadow, 1)}`;
}

/**
 * The days with rows, as spans of whole days. A span has at most `SPAN_ROWS` rows, or it is one day with more rows. The visitors and sessions
 * of one span are in memory at the same time.
 */
async function spansOf(deps: DiffDeps, params: Params): Promise<readonly { first: string; last: string }[]> {
  const rows = await deps.analytics.select<{ day: string; rows: number | string }>(
    `SELECT toString(day) AS day, sum(rows) AS rows FROM (${both(
      deps,
      (database) =>
        `SELECT toDate(timestamp, 'UTC') AS day, count() AS rows FROM ${database}.records WHERE ${WITHIN} AND outcome = 'row' GROUP BY day`,
    )}) GROUP BY day ORDER BY day`,
    params,
  );
  const spans: { first: string; last: string; rows: number }[] = [];
  for (const { day, rows: count } of rows) {
    const open = spans.at(-1);
    if (open !== undefined && open.rows + Number(count) <= SPAN_ROWS) {
      open.last = day;
      open.rows += Number(count);
    } else spans.push({ first: day, last: day, rows: Number(count) });
  }
  return spans.map(({ first, last }) => ({ first, last }));
}

async function daysOf(deps: DiffDeps, params: Params): Promise<readonly DayDiff[]> {
  const rows = await deps.analytics.select<Readonly<Record<string, string | number>>>(
    `SELECT toString(day) AS day, ${DAY_COUNTS.flatMap((name) => [`sumIf(${name}, is_new = 0) AS old_${name}`, `sumIf(${name}, is_new = 1) AS new_${name}`]).join(', ')}
     FROM (${both(
       deps,
       (database, isNew) =>
         `SELECT ${isNew} AS is_new, toDate(timestamp, 'UTC') AS day, count() AS rows, uniqExactIf(visitor_id, visitor_id != '') AS visitors,
            uniqExactIf(session_id, session_id != '') AS sessions
          FROM ${database}.events
          WHERE ${WITHIN} AND timestamp >= toDateTime({first:Date}, 'UTC') AND timestamp < toDateTime({last:Date} + 1, 'UTC')
          GROUP BY day`,
     )})
     GROUP BY day ORDER BY day`,
    params,
  );
  return rows.map((row) => ({ day: String(row.day), old: dayCounts(row, 'old'), new: dayCounts(row, 'new') }));
}

/**
 * Finds the columns whose values differ between the two sets of tables, by comparing a sum of hashes for each column. This takes one pass over each
 * set. Usually few columns differ, and only these are counted value by value.
 */
async function changedColumns({ analytics, shadow }: DiffDeps, params: Params): Promise<ReadonlySet<string>> {
  const columns = Object.values(DIFF_COLUMNS).flat();
  const sums = columns.map((column) => {
    const hash = `cityHash64(toString(${column}))`;
    return `toString(${isOfAllRecords(column) ? `sum(${hash})` : `sumIf(${hash}, outcome = 'row')`}) AS sum_${column}`;
  });
  const sumsOf = async (database: string): Promise<Readonly<Record<string, string>>> => {
    const rows = await analytics.select<Readonly<Record<string, string>>>(
      `SELECT ${sums.join(', ')} FROM ${database}.records WHERE ${WITHIN}`,
      params,
    );
    return rows[0] ?? {};
  };
  const live = await sumsOf(shadow.live);
  const replayed = await sumsOf(shadow.shadow);
  return new Set(columns.filter((column) => live[`sum_${column}`] !== replayed[`sum_${column}`]));
}

/** For each of these columns, the values whose numbers of records differ. */
async function valuesOf(deps: DiffDeps, columns: readonly string[], params: Params): Promise<readonly Counted[]> {
  if (columns.length === 0) return [];
  const countsOf = (column: string): string =>
    `SELECT '${column}' AS name, value, sum(o) AS old, sum(n) AS new
      FROM (${both(
        deps,
        (database, isNew) =>
          `SELECT toString(${column}) AS value, toInt64(${isNew === 0 ? 'count()' : '0'}) AS o, toInt64(${isNew === 1 ? 'count()' : '0'}) AS n
           FROM ${database}.records WHERE ${WITHIN}${isOfAllRecords(column) ? '' : " AND outcome = 'row'"} GROUP BY value`,
      )})
      GROUP BY value HAVING old != new ORDER BY abs(new - old) DESC, value LIMIT {limit:UInt32}`;
  // One statement compares the columns of one step of the enricher, because a statement for all columns would need too much memory.
  const statement = columns.map((column) => `SELECT * FROM (${countsOf(column)})`).join('\nUNION ALL\n');
  return deps.analytics.select<Counted>(statement, params);
}

/** Whether the column is compared for all records, and not only for those with the outcome `row`. */
function isOfAllRecords(column: string): boolean {
  return column === 'outcome' || column === 'reason' || column === 'rule_id';
}

/** The maximum number of rows in a span of several days, in both sets of tables together. Their visitors and sessions need about 200 MB of memory. */
const SPAN_ROWS = 4_000_000;
const VERSIONS_MAX = 1_000;
/**
 * The SQL of the names and values of the parts of the column `enrichment` (enrichment-version.ts). Rows of other versions of Weir can
 * have another form.
 */
const PARTS_OF_VERSION =
  "if(enrichment LIKE 'steps-% ua-% lists-% geo-%', [" +
  "('steps', extract(enrichment, 'steps-(.*) ua-')), ('ua', extract(enrichment, ' ua-(.*) lists-')), " +
  "('lists', extract(enrichment, ' lists-(.*) geo-')), ('geo', extract(enrichment, ' geo-(.*)'))], " +
  "[('enrichment', toString(enrichment))])";
const DAY_COUNTS = ['rows', 'visitors', 'sessions'] as const;

/** A condition for the records up to the position that the shadow tables have reached. The live tables also have later records. */
const WITHIN =
  '(log_id != {log:String} OR raw_offset < transform(raw_partition, arrayMap(n -> toUInt32(n), range({partitions:UInt32})), ' +
  '{ends:Array(UInt64)}, toUInt64(0)))';

function dayCounts(row: Readonly<Record<string, string | number>>, side: 'old' | 'new'): DayCounts {
  const of = (name: string): number => Number(row[`${side}_${name}`]);
  return { rows: of('rows'), visitors: of('visitors'), sessions: of('sessions') };
}

/** ClickHouse may send 64-bit numbers as text. */
function numbers(row: Counted): { readonly old: number; readonly new: number } {
  return { old: Number(row.old), new: Number(row.new) };
}
