import { useState } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import { Empty } from '../ui/states.tsx';
import { sqlText } from './sql-value.ts';

/** A reader cannot compare more bars than this. The table and the CSV have more rows. */
const BARS_MAX = 100;

type Row = Readonly<Record<string, unknown>>;

interface Props {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/**
 * The rows of a result as bars. The first column without numbers contains the names of the bars. The reader can choose the column of numbers that
 * gives their length. NULL has no bar.
 */
export function SqlChart({ columns, rows }: Props) {
  const { t } = useTexts();
  const numeric = columns.filter((name) => rows.every((row) => typeof row[name] === 'number' || row[name] === null));
  const label = columns.find((name) => !numeric.includes(name)) ?? columns[0] ?? '';
  const [chosen, setChosen] = useState<string>();
  const value = numeric.find((name) => name === chosen) ?? numeric.find((name) => name !== label) ?? numeric[0];
  if (value === undefined) return <Empty title={t('sql.noNumbers')} />;
  const shown = rows.slice(0, BARS_MAX);
  const lengthOf = (row: Row): number => Math.abs(Number(row[value] ?? 0));
  const most = Math.max(...shown.map(lengthOf), Number.MIN_VALUE);
  return (
    <div className="bars" data-testid="sql-chart">
      {numeric.length > 1 && (
        <div className="inline-form">
          <label>
            {t('sql.chartColumn')}
            <select value={value} onChange={(event) => setChosen(event.target.value)}>
              {numeric.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        </div>
      )}
      <div className="bars-head" aria-hidden="true">
        <span>{label}</span>
        <span>{value}</span>
      </div>
      <ol className="bar-list">
        {shown.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row of a result has no identity
          <li key={index} className="bar-row">
            {row[value] !== null && <span className="bar" style={{ width: `${(100 * lengthOf(row)) / most}%` }} />}
            <span className="bar-text">{sqlText(row[label])}</span>
            <span className="bar-number">{sqlText(row[value])}</span>
          </li>
        ))}
      </ol>
      {rows.length > BARS_MAX && <p className="note">{t('sql.chartShown', { shown: BARS_MAX })}</p>}
    </div>
  );
}
