import { table } from './section.ts';

/** A short description of a wrong result, and one user agent that had it. */
export interface Miss {
  readonly what: string;
  readonly example: string;
}

const SHOWN_MAX = 12;
const EXAMPLE_CHARS_MAX = 140;

export function commonest(misses: readonly Miss[]): string {
  const groups = new Map<string, { count: number; example: string }>();
  for (const { what, example } of misses) {
    const group = groups.get(what);
    if (group === undefined) groups.set(what, { count: 1, example });
    else group.count += 1;
  }
  const rows = [...groups].sort(([a, x], [b, y]) => y.count - x.count || (a < b ? -1 : 1)).slice(0, SHOWN_MAX);
  if (rows.length === 0) return 'None.';
  return table(
    ['miss', 'cases', 'for example'],
    rows.map(([what, { count, example }]) => [what, count, `\`${example.slice(0, EXAMPLE_CHARS_MAX)}\``]),
  );
}
