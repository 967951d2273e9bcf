import stringWidth from 'string-width';
import type { CliIo } from './cli-io.ts';

/** Prints the data as JSON, or as the text that `human` returns for it. */
export function print<T>(io: CliIo, json: boolean | undefined, data: T, human: (data: T) => string): void {
  io.stdout.write(`${json ? JSON.stringify(data, null, 2) : human(data)}\n`);
}

/** Longer cells do not widen their column: one very long cell would otherwise make each line as long as itself. */
const PADDED_MAX = 200;

/** Formats a table. Columns of numbers are right-aligned. */
export function table(heads: readonly string[], rows: readonly (readonly unknown[])[], empty = 'none'): string {
  if (rows.length === 0) return empty;
  const lines = [heads, ...rows.map((row) => row.map(cell))];
  const columns = heads.map((_, column) => ({
    isNumber: rows.every((row) => typeof row[column] === 'number'),
    width: lines.reduce((width, line) => Math.max(width, Math.min(widthOf(line[column] ?? ''), PADDED_MAX)), 0),
  }));
  const padded = (text: string, { isNumber, width }: (typeof columns)[number]): string => {
    const padding = ' '.repeat(Math.max(0, width - widthOf(text)));
    return isNumber ? padding + text : text + padding;
  };
  return lines
    .map((line) =>
      columns
        .map((column, at) => padded(line[at] ?? '', column))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/**
 * The number of columns of a terminal that the text needs. `stringWidth` is slow, so it gets only texts with other characters than those of ASCII.
 */
const widthOf = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : stringWidth(text));

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
