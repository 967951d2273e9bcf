import type { Measure, Sample } from './day-samples.ts';
import { judgeLevel, quartersOf } from './levels-off.ts';
import { type DayResult, MEMORY_MAX_BYTES } from './run-day.ts';

interface Shown {
  readonly name: string;
  readonly about: string;
  readonly of: (sample: Sample) => number;
  readonly unit: 'MB' | 'count' | 'bytes';
  /** Growth up to this value is ignored. Undefined: the measure is only shown, and may grow without limit. */
  readonly slack?: number;
}

const MEGABYTE = 1_000_000;
const measure = (name: Measure, about: string, unit: Shown['unit'], slack?: number): Shown => ({
  ...{ name, about, unit, of: (sample) => sample[name] },
  ...(slack === undefined ? {} : { slack }),
});

/**
 * The measures in the table of docs/faults.md. Some small values vary by more than GROWTH_SHARE_MAX (levels-off.ts), so their measures have a
 * slack.
 */
const SHOWN: readonly Shown[] = [
  measure('memory', 'anonymous memory of all processes', 'MB', 0),
  measure('memory-main', 'anonymous memory of the main process', 'MB', 0),
  measure('memory-clickhouse', 'anonymous memory of the ClickHouse process', 'MB', 0),
  measure('open-files', 'open files and connections of all processes', 'count', 50),
  measure('disk-log', 'event log', 'MB', MEGABYTE),
  measure('disk-state', 'state of the enricher: visits, links, first-seen keys', 'MB', MEGABYTE),
  measure('disk-claims', 'idempotency keys', 'MB', MEGABYTE),
  measure('disk-clickhouse-rest', 'folder of ClickHouse without the parts of tables', 'MB', 20 * MEGABYTE),
  measure('disk-rest', 'all other files of the data folder', 'MB', MEGABYTE),
  {
    ...{ name: 'bytes-per-row', about: 'active parts of tables, bytes per row', unit: 'bytes', slack: 0 },
    of: (sample) => sample['disk-tables'] / Math.max(1, sample['table-rows']),
  },
  {
    // This value varies, because retention makes the tables smaller from time to time. If replaced parts were not removed, the value would grow by
    // about 20 in six hours.
    ...{ name: 'replaced-per-byte', unit: 'bytes', slack: 3 },
    about: 'replaced parts of tables, bytes per byte of active parts',
    of: (sample) => sample['disk-replaced-parts'] / Math.max(1, sample['disk-tables']),
  },
  measure('disk-tables', 'active parts of tables; the rows of the honest clients are kept', 'MB'),
  measure(
    'disk-replaced-parts',
    'parts that merges and deletions have replaced, for 60 s; larger tables have larger ones',
    'MB',
  ),
  measure('table-rows', 'rows of all tables', 'count'),
  measure('disk', 'the whole data folder', 'MB'),
  measure('lag', 'records that wait for the enricher or the writer', 'count'),
];

/** Returns one sentence for each measure that must stop growing, but does not. */
export function growthFindings(samples: readonly Sample[]): readonly string[] {
  return SHOWN.filter(({ slack }) => slack !== undefined).flatMap(({ name, of, unit, slack }) => {
    const { medians, levelsOff } = judgeLevel(quartersOf(samples.map(of)), slack);
    if (levelsOff) return [];
    return [`${name} grows: the medians of the quarters are ${medians.map((value) => shown(value, unit)).join(', ')}`];
  });
}

/** The rows of the table in docs/faults.md, by the name in their first column. */
export function dayRows({ samples }: Pick<DayResult, 'samples'>): ReadonlyMap<string, string> {
  return new Map(
    SHOWN.map(({ name, about, of, unit, slack }) => {
      const { medians, most } = judgeLevel(quartersOf(samples.map(of)), slack);
      const [, , third = 0, last = 0] = medians;
      const change = third === 0 ? '' : `${(((last - third) / third) * 100).toFixed(1)} %`;
      const figures = [...medians, most].map((value) => shown(value, unit)).join(' | ');
      return [name, `| \`${name}\` | ${about} | ${figures} | ${change} | ${slack === undefined ? 'no' : 'yes'} |`];
    }),
  );
}

export function dayNote(result: DayResult): string {
  const { acknowledged, stored, lost, doubled, received, rate, memoryMost, answers, saw } = result;
  const count = (value: number): string => value.toLocaleString('en-US');
  const sums = new Map<string, number>();
  for (const ofKind of answers.values()) for (const [what, n] of ofKind) sums.set(what, (sums.get(what) ?? 0) + n);
  const shownSums = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([what, n]) => `${what}: ${count(n)}`);
  const honest = [...saw].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([what, n]) => `${what}: ${count(n)}`);
  return [
    `The clock went ${rate} times as fast as real time. The log received ${count(received)} records.`,
    `Honest clients: ${count(acknowledged)} records acknowledged, ${count(stored)} stored, ${lost} lost, ${doubled} doubled; answers ${honest.join(', ')}.`,
    `Hostile requests by their answer: ${shownSums.join(', ')}.`,
    `The most memory of all processes together that was seen: ${shown(memoryMost, 'MB')} of ${shown(MEMORY_MAX_BYTES, 'MB')}.`,
  ].join(' ');
}

function shown(value: number, unit: Shown['unit']): string {
  if (unit === 'MB') return `${(value / MEGABYTE).toFixed(value < 10 * MEGABYTE ? 1 : 0)} MB`;
  return value.toLocaleString('en-US', { maximumFractionDigits: unit === 'bytes' ? 1 : 0 });
}
