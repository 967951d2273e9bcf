import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { callAdmin } from '../api/call-admin.ts';
import { useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { saveCsv } from '../reports/download-csv.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { ScrollBox } from '../ui/scroll-box.tsx';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { SqlEditor } from './sql-editor.tsx';
import { EXAMPLES } from './sql-examples.ts';

/** The rows that the page shows. The CSV has all. */
const SHOWN_MAX = 1_000;
const HISTORY_MAX = 20;
const COLUMNS_QUERY =
  'SELECT table, groupArray(name) AS names FROM system.columns WHERE database = currentDatabase() GROUP BY table';

/** Runs read-only statements on the tables. The history ends with the page. */
export function SqlPage() {
  const { t, number } = useTexts();
  const [chosen, setChosen] = useState({ text: EXAMPLES[0]?.sql ?? '' });
  const [text, setText] = useState<string>(chosen.text);
  const [past, setPast] = useState<readonly string[]>([]);
  const run = useChange('sql');
  const schema = useSchema();
  useEffect(() => {
    document.title = `${t('nav.sql')} · Weir`;
  }, [t]);
  const start = () => {
    const query = text.trim();
    if (query === '') return;
    setPast([query, ...past.filter((one) => one !== query)].slice(0, HISTORY_MAX));
    run.mutate({ body: { query } });
  };
  const { data } = run;
  const names = data?.columns.map(({ name }) => name) ?? [];
  const save = () =>
    data &&
    saveCsv(
      'weir.csv',
      names,
      data.rows.map((row) => names.map((name) => cellText(row[name]))),
    );
  return (
    <>
      <header className="page-head">
        <h1>{t('nav.sql')}</h1>
      </header>
      <section className="card section" aria-label={t('sql.statement')}>
        <p className="note">{t('sql.hint')}</p>
        <SqlEditor label={t('sql.statement')} chosen={chosen} schema={schema} onChange={setText} onRun={start} />
        <div className="actions start">
          <button type="button" className="button primary" disabled={run.isPending} onClick={start}>
            {t('sql.run')} <kbd>Ctrl Enter</kbd>
          </button>
          <Menu label={t('sql.examples')}>
            {EXAMPLES.map(({ name, sql }) => (
              <MenuItem key={name} onSelect={() => setChosen({ text: sql })}>
                {t(name)}
              </MenuItem>
            ))}
          </Menu>
          {past.length > 0 && (
            <Menu label={t('sql.history')}>
              {past.map((one) => (
                <MenuItem key={one} onSelect={() => setChosen({ text: one })}>
                  {one}
                </MenuItem>
              ))}
            </Menu>
          )}
          {data && (
            <button type="button" className="button" onClick={save}>
              {t('csv.save')}
            </button>
          )}
        </div>
      </section>
      {run.error && <Problem error={run.error} />}
      {run.isPending && <Loading lines={5} />}
      {data && !run.isPending && (
        <section className="card section" aria-label={t('sql.result')} data-testid="sql-result">
          <p className="note" role="status">
            {t('sql.rows', { count: data.rows.length })}{' '}
            {data.rows.length > SHOWN_MAX && t('sql.shown', { shown: SHOWN_MAX })}
          </p>
          {data.rows.length === 0 ? (
            <Empty title={t('nothing')} />
          ) : (
            <ScrollBox label={t('sql.result')}>
              <table className="table">
                <thead>
                  <tr>
                    {data.columns.map(({ name, type }) => (
                      <th
                        key={name}
                        scope="col"
                        title={type}
                        className={typeof data.rows[0]?.[name] === 'number' ? 'number' : undefined}
                      >
                        {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {data.rows.slice(0, SHOWN_MAX).map((row, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a row of a result has no identity
                    <tr key={index}>
                      {names.map((name) => {
                        const value = row[name];
                        return (
                          <td key={name} className={typeof value === 'number' ? 'number' : 'long'}>
                            {typeof value === 'number' ? number(value) : cellText(value)}
                          </td>
                        );
                      })}
                    </tr>
                  ))}
                </tbody>
              </table>
            </ScrollBox>
          )}
        </section>
      )}
    </>
  );
}

/** The tables of the database with their columns, for completion. Empty until they are known. */
function useSchema(): Readonly<Record<string, readonly string[]>> {
  const columns = useQuery({
    queryKey: ['sql columns'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => callAdmin('sql', { body: { query: COLUMNS_QUERY }, signal }),
  });
  return useMemo(() => {
    const rows = columns.data?.rows ?? [];
    return Object.fromEntries(rows.map(({ table, names }) => [String(table), names as readonly string[]]));
  }, [columns.data]);
}

function cellText(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
