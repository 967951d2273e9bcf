import type { Cell } from '../ui/csv-text.ts';

/** The exact text of a value of a SQL result. NULL is a dash. */
export function sqlText(value: unknown): string {
  const cell = sqlCell(value);
  return cell === null ? '–' : String(cell);
}

/** A value of a SQL result for a CSV file. NULL is an empty cell. */
export function sqlCell(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
