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

/** The differences between the shadow tables that a replay fills (`new`) and the live tables (`old`). */
export interface ReplayDiff {
  readonly replay_id: string;
  /** The counts of each day (UTC) that has rows. */
  readonly days: readonly DayDiff[];
  /** Values whose number of records differs, the largest difference first. The request limits the number of values for each column. */
  readonly changes: readonly ValueDiff[];
  /** The versions of the code, lists and geo data that made the rows, by day. Only versions whose number of rows differs. */
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
 * Compares the records up to the newest record that the replay has written. Call it only if all older records have been copied or
 * replayed.
 */
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
    // One statement for each step: a single statement for all columns would need too much memory.
    const statement = columns.map((column) => `SELECT * FROM (${countsOf(column)})`).join('\nUNION ALL\n');
    const rows = await analytics.select<Counted>(statement, params);
    changes.push(...rows.map((row) => ({ step, column: row.name, value: row.value, ...numbers(row) })));
  }
  const versions = await analytics.select<Counted & { readonly day: string }>(
    `SELECT day, part.1 AS name, part.2 AS value, sum(o) AS old, sum(n) AS new
     FROM (SELECT day, arrayJoin(${PARTS_OF_VERSION}) AS part, o, n FROM (${both(
       (database, isNew) =>
         `SELECT toString(toDate(timestamp, 'UTC')) AS day, enrichment, toInt64(${isNew === 0 ? 'count()' : '0'}) AS o, toInt64(${isNew === 1 ? 'count()' : '0'}) AS n
          FROM ${database}.records WHERE ${WITHIN} AND outcome = 'row' GROUP BY day, enrichment`,
     )}))
     GROUP BY day, name, value HAVING old != new ORDER BY day, name, value LIMIT ${VERSIONS_MAX}`,
    params,
  );

  return {
    replay_id: request.replayId,
    days: days.map((row) => ({ day: String(row.day), old: dayCounts(row, 'old'), new: dayCounts(row, 'new') })),
    changes: changes.sort((a, b) => Math.abs(b.new - b.old) - Math.abs(a.new - a.old)),
    versions: versions.map((row) => {
      const { day, name: part, value: version } = row;
      return { day, part, version, steps: VERSION_STEPS[part] ?? [], ...numbers(row) };
    }),
  };
}

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
