import type { Findings, Scenario, Table } from '../scenarios/scenario.ts';

export interface Result {
  readonly scenario: Scenario;
  readonly findings: Findings;
  /** The load of the machine before and after the scenario. */
  readonly load: string;
}

export function plainText({ scenario, findings, load }: Result): string {
  const lines = [`\n== ${scenario.name}: ${scenario.about}`, `   ${load}`, ''];
  for (const table of findings.tables) lines.push(...aligned(table), '');
  for (const { what, wanted, found, met } of findings.targets) {
    lines.push(`${met ? 'met   ' : 'MISSED'} ${what}: ${found}, wanted ${wanted}`);
  }
  lines.push('', ...findings.notes.map((note) => `- ${note}`));
  return lines.join('\n');
}

const HEAD = `# Benchmarks

Written by \`npm run bench -- --write\`; do not edit. If a section says nothing else, each figure is the median (minimum-maximum) of several
rounds, and the rounds of one run alternate between Weir and its baseline. Compare the ratios, because the absolute figures depend on the machine.
The machine is *quiet* if its load average of the last minute is below 0.5. [targets.md](targets.md) says why some targets are missed.
`;

/** Returns the new text of docs/benchmarks.md: the old page with the sections of `results` replaced or, if they are new, added at the end. */
export function renewedPage(old: string, results: readonly Result[], machine: string, date: string): string {
  const [, ...kept] = old.split(/^(?=## )/m);
  const sections = new Map(kept.map((text) => [/^## (.*)$/m.exec(text)?.[1] ?? '', text.trimEnd()]));
  for (const result of results) sections.set(result.scenario.name, section(result, machine, date));
  return `${[HEAD.trimEnd(), ...sections.values()].join('\n\n')}\n`;
}

function section({ scenario, findings, load }: Result, machine: string, date: string): string {
  const { tables, notes, targets } = findings;
  const targetsTable = {
    head: ['what', 'wanted', 'found', ''],
    rows: targets.map(({ what, wanted, found, met }) => [what, wanted, found, met ? 'met' : '**missed**']),
  };
  return [
    `## ${scenario.name}`,
    '',
    `What is measured: ${scenario.about}. ${load[0]?.toUpperCase()}${load.slice(1)}.`,
    ...tables.flatMap((table) => ['', ...markdown(table)]),
    '',
    ...notes.map((text) => `- ${text}`),
    '',
    `${date}. This section was measured on that date, on ${machine}.`,
    ...(targets.length === 0 ? [] : ['', ...markdown(targetsTable)]),
  ].join('\n');
}

function markdown({ head, rows }: Table): string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function aligned({ head, rows }: Table): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  return all.map((cells) => `   ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}
