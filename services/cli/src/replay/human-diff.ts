import { table } from '../output.ts';

type Counts = Readonly<Record<'rows' | 'visitors' | 'sessions', number>>;

export interface DiffView {
  readonly days: readonly { readonly day: string; readonly old: Counts; readonly new: Counts }[];
  readonly changes: readonly {
    readonly step: string;
    readonly column: string;
    readonly value: string;
    readonly old: number;
    readonly new: number;
  }[];
  readonly versions: readonly {
    readonly day: string;
    readonly part: string;
    readonly version: string;
    readonly steps: readonly string[];
    readonly old: number;
    readonly new: number;
  }[];
}

/** The changed days, values and versions as text for people. */
export function humanDiff({ days, changes, versions }: DiffView): string {
  const changed = days.filter((day) => COUNTS.some((name) => day.old[name] !== day.new[name]));
  if (changed.length + changes.length === 0) return `No difference in ${days.length} days.`;
  return [
    `${changed.length} of ${days.length} days differ (old -> new)`,
    table(
      ['day', ...COUNTS],
      changed.map((day) => [day.day, ...COUNTS.map((name) => `${day.old[name]} -> ${day.new[name]}`)]),
    ),
    '',
    table(
      ['step', 'column', 'value', 'old', 'new', 'change'],
      changes.map((one) => [one.step, one.column, one.value, one.old, one.new, one.new - one.old]),
      'no value changed its count',
    ),
    ...(versions.length === 0
      ? []
      : [
          '',
          table(
            ['day', 'made by', 'version', 'old', 'new', 'can change'],
            versions.map((one) => [one.day, one.part, one.version, one.old, one.new, one.steps.join(', ')]),
          ),
        ]),
  ].join('\n');
}

const COUNTS = ['rows', 'visitors', 'sessions'] as const;
