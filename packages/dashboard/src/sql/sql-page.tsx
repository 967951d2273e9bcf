import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { callAdmin } from '../api/call-admin.ts';
import { useChange } from '../api/use-admin.ts';
import { usePageTitle } from '../app/page-title.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { saveCsv } from '../reports/download-csv.ts';
import { readStatement } from '../reports/statement-text.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { SqlChart } from './sql-chart.tsx';
import { SqlEditor } from './sql-editor.tsx';
import { EXAMPLES } from './sql-examples.ts';
import { addToHistory, clearHistory, readHistory } from './sql-history.ts';
import { SqlTable } from './sql-table.tsx';
import { sqlCell } from './sql-value.ts';

/** The maximum number of rows that the page shows. The CSV file contains all rows. */
const SHOWN_MAX = 1_000;
const COLUMNS_QUERY =
  'SELECT table, groupArray(name) AS names FROM system.columns WHERE database = currentDatabase() GROUP BY table';

/** Runs read-only statements on the tables. The browser stores the last statements. */
export function SqlPage() {
  const { t } = useTexts();
  const [chosen, setChosen] = useState({ text: EXAMPLES[0]?.sql ?? '' });
  const [text, setText] = useState<string>(chosen.text);
  const [past, setPast] = useState(readHistory);
  const [isWrong, setWrong] = useState(false);
  const [isChart, setChart] = useState(false);
  const run = useChange('sql');
  const running = useRef<AbortController>(undefined);
  const schema = useSchema();
  usePageTitle(t('nav.sql'));
  useEffect(() => () => running.current?.abort(), []);
  const start = () => {
    // The keys of the editor also call this function while a statement runs.
    if (run.isPending) return;
    const { query, params, isWrong = false } = readStatement(text);
    setWrong(isWrong);
    if (isWrong || query === '') return;
    setPast(addToHistory(text.trim(), past));
    // `isPending` becomes true only when the page is rendered again. If the keys call this function twice before that, the first statement is ended.
    running.current?.abort();
    running.current = new AbortController();
    run.mutate({ body: { query, ...(params && { params }) }, signal: running.current.signal });
  };
  const forget = () => {
    clearHistory();
    setPast([]);
  };
  const cancel = () => {
    running.current?.abort();
    run.reset();
  };
  const { data } = run;
  const names = data?.columns.map(({ name }) => name) ?? [];
  const save = () =>
    data &&
    saveCsv(
      'weir.csv',
      names,
      data.rows.map((row) => names.map((name) => sqlCell(row[name]))),
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
          {/* Not `disabled`: a button that becomes disabled loses the focus. */}
          <button type="button" className="button primary" aria-disabled={run.isPending} onClick={start}>
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
              <MenuSeparator />
              <MenuItem onSelect={forget}>{t('sql.forget')}</MenuItem>
            </Menu>
          )}
          {data && (
            <>
              <button type="button" className="button" onClick={save}>
                {t('csv.save')}
              </button>
              <button type="button" className="button" aria-pressed={isChart} onClick={() => setChart(!isChart)}>
                <Icon name="chart" size={16} /> {t('sql.chart')}
              </button>
            </>
          )}
        </div>
      </section>
      {isWrong && <Problem error={new Error(t('sql.paramsWrong'))} />}
      {run.error && <Problem error={run.error} />}
      {run.isPending && <Loading lines={5} onCancel={cancel} />}
      {data && !run.isPending && (
        <section className="card section" aria-label={t('sql.result')} data-testid="sql-result">
          <p className="note" role="status">
            {t('sql.rows', { count: data.rows.length })}{' '}
            {data.rows.length > SHOWN_MAX && t('sql.shown', { shown: SHOWN_MAX })}
          </p>
          {data.rows.length === 0 ? (
            <Empty title={t('nothing')} />
          ) : isChart ? (
            <SqlChart columns={names} rows={data.rows} />
          ) : (
            <SqlTable columns={data.columns} rows={data.rows.slice(0, SHOWN_MAX)} />
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
