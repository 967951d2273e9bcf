/** One part of docs/accuracy.md: a comparison, with tables of the results and the targets that must be met. */
export interface Section {
  readonly title: string;
  /** The text without the title. Its headings start at `###`. */
  readonly markdown: string;
  readonly targets: readonly Target[];
}

export interface Target {
  readonly name: string;
  /** A share between 0 and 1. */
  readonly reached: number;
  readonly wanted: Wanted;
  readonly cases: number;
}

type Wanted = { readonly atLeast: number } | { readonly atMost: number };

export function isMet({ reached, wanted, cases }: Target): boolean {
  if (cases === 0) return false;
  return 'atLeast' in wanted ? reached >= wanted.atLeast : reached <= wanted.atMost;
}

export function targetLine(target: Target): string {
  const { name, reached, wanted, cases } = target;
  const share = 'atLeast' in wanted ? percent(reached) : percentAtMost(reached);
  const bound = 'atLeast' in wanted ? `>= ${percent(wanted.atLeast)}` : `<= ${percent(wanted.atMost)}`;
  return `| ${name} | ${share} | ${bound} | ${cases} | ${isMet(target) ? 'met' : '**missed**'} |`;
}

/** Rounds down, so that a missed target never looks met. */
export function percent(share: number): string {
  return `${(Math.floor(share * 10_000) / 100).toFixed(2)} %`;
}

function percentAtMost(share: number): string {
  return `${(Math.ceil(share * 10_000) / 100).toFixed(2)} %`;
}

/** A Markdown table. The cells are escaped. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
