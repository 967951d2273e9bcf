import type { Findings, Scenario, Table } from './scenario.ts';

export interface Result {
  readonly scenario: Scenario;
  readonly findings: Findings;
  /** The machine's load before and after. */
  readonly load: string;
}

/** For the terminal. */
export function plainText({ scenario, findings, load }: Result): string {
  const lines = [`\n== ${scenario.name}: ${scenario.about}`, `   ${load}`, ''];
  for (const table of findings.tables) lines.push(...aligned(table), '');
  for (const { what, wanted, found, met } of findings.targets) {
    lines.push(`${met ? 'met   ' : 'MISSED'} ${what}: ${found}, wanted ${wanted}`);
  }
  lines.push('', ...findings.notes.map((note) => `- ${note}`));
  return lines.join('\n');
}

/** docs/benchmarks.md. */
export function benchmarksPage(results: readonly Result[], machine: string, date: string): string {
  const targets = results.flatMap(({ findings }) => findings.targets);
  return `${[
    '# Benchmarks',
    '',
    'Written by `npm run bench -- --write`; do not edit. Figures are median (min-max) of rounds that alternate between what is',
    'measured and its yardstick, in one run. Ratios hold elsewhere; absolute figures are of this machine.',
    '',
    `${date}. ${machine}.`,
    '',
    '## Targets',
    '',
    ...markdown({
      head: ['what', 'wanted', 'found', ''],
      rows: targets.map(({ what, wanted, found, met }) => [what, wanted, found, met ? 'met' : '**missed**']),
    }),
    ...results.flatMap(({ scenario, findings, load }) => [
      '',
      `## ${scenario.name}`,
      '',
      `${scenario.about[0]?.toUpperCase()}${scenario.about.slice(1)}. ${load[0]?.toUpperCase()}${load.slice(1)}.`,
      ...findings.tables.flatMap((table) => ['', ...markdown(table)]),
      '',
      ...findings.notes.map((text) => `- ${text}`),
    ]),
  ].join('\n')}\n`;
}

function markdown({ head, rows }: Table): string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function aligned({ head, rows }: Table): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  return all.map((cells) => `   ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}
