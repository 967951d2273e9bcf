export type Cell = string | number | null;

/** A decimal number, also a negative one. A spreadsheet reads it as a number and runs nothing. */
const NUMBER = /^-?\d+(\.\d+)?$/;

/** The text of a CSV file. A text that a spreadsheet would run as a formula gets an apostrophe before it. */
export function csvOf(lines: readonly (readonly Cell[])[]): string {
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

function csvCell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r\n]/.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  // In German and other languages, spreadsheets split lines at semicolons. Without quotes, the text after one could become a formula.
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
