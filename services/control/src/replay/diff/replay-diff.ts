import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import { highestReplayed } from '../replay-filler.ts';
import { DIFF_COLUMNS } from './diff-columns.ts';

export interface DiffDeps {
  readonly analytics: Pick<Analytics, 'select'>;
  readonly shadow: Pick<ShadowTables, 'analytics' | 'live' | 'shadow'>;
  readonly logId: string;
}

/** What the shadow tables (`new`) have otherwise than the tables (`old`). */
export interface ReplayDiff {
  readonly replay_id: string;
  /** Every day (UTC) with rows. */
  readonly days: readonly DayDiff[];
  /** Values whose number of records changed, largest change first; at most so many of each column as asked for. */
  readonly changes: readonly ValueDiff[];
  /** The versions of steps, lists and geo data that made the rows, where their numbers changed. */
  readonly versions: readonly { readonly enrichment: string; readonly old: number; readonly new: number }[];
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

type Counted = {
  readonly name: string;
  readonly value: string;
  readonly old: number | string;
  readonly new: number | string;
};

/** Compares all records up to where the replay is now. The shadow tables must have all records from before the start of the replay. */
export async function replayDiff(
  { analytics, shadow, logId }: DiffDeps,
  { request }: Replay,
  { starts }: ReplayState,
  valuesMax: number,
): Promise<ReplayDiff> {
  const ends = await Promise.all(
    starts.map(async (start, partition) =>
      Math.max(start.rawEnd, (await highestReplayed(shadow, logId, partition, start, request)) + 1),
    ),
  );
  const params = { log: logId, partitions: starts.length, ends, limit: valuesMax };
  const both = (select: (database: string, isNew: 0 | 1) => string): string =>
    `${select(shadow.live, 0)} UNION ALL ${select(shadow.shadow, 1)}`;

  const days = await analytics.select<Readonly<Record<string, string | number>>>(
    `SELECT toString(day) AS day, ${DAY_COUNTS.flatMap((name) => [`sumIf(${name}, is_new = 0) AS old_${name}`, `sumIf(${name}, is_new = 1) AS new_${name}`]).join(', ')}
     FROM (${both(
       (database, isNew) =>
         `SELECT ${isNew} AS is_new, toDate(timestamp, 'UTC') AS day, count() AS rows, uniqExactIf(visitor_id, visitor_id != '') AS visitors,
            uniqExactIf(session_id, session_id != '') AS sessions FROM ${database}.events WHERE ${WITHIN} GROUP BY day`,
     )})
     GROUP BY day ORDER BY day`,
    params,
  );

  const countsOf = (column: string): string => {
    const rows = column === 'outcome' || column === 'reason' || column === 'rule_id' ? '' : " AND outcome = 'row'";
    return `SELECT '${column}' AS name, value, sum(o) AS old, sum(n) AS new
      FROM (${both(
        (database, isNew) =>
          `SELECT toString(${column}) AS value, toInt64(${isNew === 0 ? 'count()' : '0'}) AS o, toInt64(${isNew === 1 ? 'count()' : '0'}) AS n
           FROM ${database}.records WHERE ${WITHIN}${rows} GROUP BY value`,
      )})
      GROUP BY value HAVING old != new ORDER BY abs(new - old) DESC, value LIMIT {limit:UInt32}`;
  };
  const changes: ValueDiff[] = [];
  for (const [step, columns] of Object.entries(DIFF_COLUMNS)) {
    // One statement for each step, so that none needs the memory of all columns.
    const statement = columns.map((column) => `SELECT * FROM (${countsOf(column)})`).join('\nUNION ALL\n');
    const rows = await analytics.select<Counted>(statement, params);
    changes.push(...rows.map((row) => ({ step, column: row.name, value: row.value, ...numbers(row) })));
  }
  const versions = await analytics.select<Counted>(countsOf('enrichment'), params);

  return {
    replay_id: request.replayId,
    days: days.map((row) => ({ day: String(row.day), old: dayCounts(row, 'old'), new: dayCounts(row, 'new') })),
    changes: changes.sort((a, b) => Math.abs(b.new - b.old) - Math.abs(a.new - a.old)),
    versions: versions.map((row) => ({ enrichment: row.value, ...numbers(row) })),
  };
}

const DAY_COUNTS = ['rows', 'visitors', 'sessions'] as const;

/** The records that both sides have. */
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
