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

/**
 * Returns the new text of docs/benchmarks.md. Either all `results` are of scenarios that run only when they are named, or none is
 * (bench-options.ts). In the first case, only the sections of `results` are replaced. In the second case, all sections are replaced except those
 * of scenarios that run only when they are named.
 */
export function renewedPage(old: string, results: readonly Result[], machine: string, date: string): string {
  const own = results.filter(({ scenario }) => scenario.onlyByName !== undefined);
  const sections = own.map(({ scenario, ...result }) =>
    [
      ...section({ scenario, ...result }),
      '',
      `${date}. This section was measured on that date, on ${machine}.`,
      '',
      ...targetsTable([{ scenario, ...result }]),
    ].join('\n'),
  );
  if (own.length === 0) return `${benchmarksPage(results, machine, date)}${keptSections(old).join('')}`;
  const names = own.map(({ scenario }) => `## ${scenario.name}\n`);
  const [head = '', ...others] = old.split(/^(?=## )/m);
  const kept = others.filter((text) => !names.some((name) => text.startsWith(name)));
  return `${[head, ...kept].join('').trimEnd()}\n${sections.join('\n')}\n`;
}

/** Returns the sections of scenarios that run only when they are named. They have their own date, and stay when the page is replaced. */
function keptSections(old: string): string[] {
  const [, ...sections] = old.split(/^(?=## )/m);
  return sections.filter((text) => /^\d{4}-\d\d-\d\d\. /m.test(text)).map((text) => `\n${text.trimEnd()}\n`);
}

function benchmarksPage(results: readonly Result[], machine: string, date: string): string {
  return `${[
    '# Benchmarks',
    '',
    'Written by `npm run bench -- --write`; do not edit. If a section says nothing else, each figure is the median (minimum-maximum) of several',
    'rounds, and the rounds of one run alternate between Weir and its baseline. Compare the ratios, because the absolute figures depend on the machine.',
    'The machine is *quiet* if its load average of the last minute is below 0.5.',
    '',
    `${date}. Sections without their own date were measured on that date, on ${machine}.`,
    '',
    '## Targets',
    '',
    ...targetsTable(results),
    ...results.flatMap(section),
  ].join('\n')}\n`;
}

function targetsTable(results: readonly Result[]): string[] {
  const targets = results.flatMap(({ findings }) => findings.targets);
  return markdown({
    head: ['what', 'wanted', 'found', ''],
    rows: targets.map(({ what, wanted, found, met }) => [what, wanted, found, met ? 'met' : '**missed**']),
  });
}

function section({ scenario, findings, load }: Result): string[] {
  return [
    '',
    `## ${scenario.name}`,
    '',
    `What is measured: ${scenario.about}. ${load[0]?.toUpperCase()}${load.slice(1)}.`,
    ...findings.tables.flatMap((table) => ['', ...markdown(table)]),
    '',
    ...findings.notes.map((text) => `- ${text}`),
  ];
}

function markdown({ head, rows }: Table): string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function aligned({ head, rows }: Table): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  return all.map((cells) => `   ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}
