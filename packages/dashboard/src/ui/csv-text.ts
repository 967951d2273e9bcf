export type Cell = string | number | null;

/** A decimal number, also a negative one. A spreadsheet reads it as a number and runs nothing. */
const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * In German and other languages, spreadsheets split lines at semicolons. They then ignore the quotes of all columns but the first, because these
 * follow a comma and not a semicolon. So a text of such a column can contain the start of another cell.
 */
const INNER_FORMULA = /[;\t\r\n]"*(?=[=+\-@])/g;

/** The text of a CSV file. A text that a spreadsheet would run as a formula gets an apostrophe before it. */
export function csvOf(lines: readonly (readonly Cell[])[]): string {
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

function csvCell(value: Cell, column: number): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r\n]/.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  const safe = column === 0 ? text : text.replace(INNER_FORMULA, "$&'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
