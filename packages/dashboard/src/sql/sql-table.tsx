import type { Answer } from '../api/call-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { ScrollBox } from '../ui/scroll-box.tsx';
import { sqlText } from './sql-value.ts';

/** The rows of a SQL result with their exact values. */
export function SqlTable({ columns, rows }: Pick<Answer<'sql'>, 'columns' | 'rows'>) {
  const { t } = useTexts();
  const numeric = new Set(
    columns.map(({ name }) => name).filter((name) => rows.some((row) => typeof row[name] === 'number')),
  );
  const classOf = (name: string): string => (numeric.has(name) ? 'number' : 'long');
  return (
    <ScrollBox label={t('sql.result')}>
      <table className="table">
        <thead>
          <tr>
            {columns.map(({ name, type }) => (
              <th key={name} scope="col" title={type} className={numeric.has(name) ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row of a result has no identity
            <tr key={index}>
              {columns.map(({ name }) => (
                <td key={name} className={classOf(name)}>
                  {sqlText(row[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
