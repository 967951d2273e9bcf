import Table from 'cli-table3';
import type { CliIo } from './cli-io.ts';

/** Prints the data as JSON, or as the text that `human` returns for it. */
export function print<T>(io: CliIo, json: boolean | undefined, data: T, human: (data: T) => string): void {
  io.stdout.write(`${json ? JSON.stringify(data, null, 2) : human(data)}\n`);
}

const PLAIN = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '' },
  ...{ 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' },
};

/** Formats a table. Columns of numbers are right-aligned. */
export function table(heads: readonly string[], rows: readonly (readonly unknown[])[], empty = 'none'): string {
  if (rows.length === 0) return empty;
  const colAligns = heads.map((_, column) =>
    rows.every((row) => typeof row[column] === 'number') ? ('right' as const) : ('left' as const),
  );
  const result = new Table({
    head: [...heads],
    chars: PLAIN,
    colAligns,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) result.push(row.map(cell));
  return trimLines(result.toString());
}

/** Formats names and values, one pair per line. */
export function fields(values: Readonly<Record<string, unknown>>): string {
  return table(
    ['field', 'value'],
    Object.entries(values).map(([name, value]) => [name, cell(value)]),
  )
    .split('\n')
    .slice(1)
    .join('\n');
}

/** The value as text. Control characters become spaces, because stored data must not control the terminal. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}

function trimLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
