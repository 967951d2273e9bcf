import type { ReactNode } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import { ScrollBox } from './scroll-box.tsx';

interface Column<Row> {
  /** The heading. A column without one contains the buttons of the rows. */
  readonly title?: string;
  readonly cell: (row: Row) => ReactNode;
  /** `name`: the heading of the row. `number`: aligned right. Default: text. */
  readonly kind?: 'name' | 'number';
  /** `long`: a long value is cut, and does not make the table wider. `whole`: a value stays on one line. `sentence`: a value needs few lines. */
  readonly fit?: 'long' | 'whole' | 'sentence';
  /** The text that appears when the pointer is on the cell. */
  readonly hint?: (row: Row) => string;
}

interface Props<Row> {
  /** Names the table for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly testId?: string;
  /** Shown instead of the table if there are no rows. */
  readonly none?: ReactNode;
  /** True while the rows are the answer to the previous parameters. */
  readonly isOld?: boolean;
}

/** A table with one row for each item of a list. It scrolls sideways if it is wider than the page. */
export function DataTable<Row>({ label, rows, keyOf, columns, testId, none, isOld = false }: Props<Row>) {
  const { t } = useTexts();
  if (rows.length === 0 && none !== undefined) return none;
  return (
    <ScrollBox label={label}>
      <table className={isOld ? 'table old' : 'table'} data-testid={testId}>
        <thead>
          <tr>
            {columns.map(({ title, kind }) => (
              <th key={title ?? ''} scope="col" className={kind === 'number' ? 'number' : undefined}>
                {title ?? <span className="visually-hidden">{t('actions')}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <Cell key={column.title ?? ''} row={row} column={column} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function Cell<Row>({ row, column }: { readonly row: Row; readonly column: Column<Row> }) {
  const { title, cell, kind, fit, hint } = column;
  const isRight = kind === 'number' || title === undefined;
  const attributes = {
    className: [isRight ? 'number' : '', fit ?? ''].join(' ').trim() || undefined,
    title: hint?.(row),
  };
  if (kind !== 'name') return <td {...attributes}>{cell(row)}</td>;
  return (
    <th scope="row" {...attributes}>
      {cell(row)}
    </th>
  );
}

interface RowButtonProps {
  readonly text: string;
  /** For screen readers: the text with the name of the row. */
  readonly label: string;
  readonly isDanger?: boolean;
  readonly onClick: () => void;
}

/** A button of a row. */
export function RowButton({ text, label, isDanger = false, onClick }: RowButtonProps) {
  return (
    <button
      type="button"
      className={isDanger ? 'button small danger' : 'button small'}
      aria-label={label}
      onClick={onClick}
    >
      {text}
    </button>
  );
}
