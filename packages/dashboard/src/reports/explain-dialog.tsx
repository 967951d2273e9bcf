import type { Answer, QueryOf } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { outcomeText } from '../i18n/outcome-text.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { CodeBlock } from '../ui/copy-text.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FactsTable } from '../ui/facts-table.tsx';
import { QueryAnswer } from '../ui/states.tsx';
import { METRICS, metricLabel } from './report-metrics-view.ts';
import { statementText } from './statement-text.ts';

/** The reports that can be explained. */
export type ExplainedId = 'stats' | 'breakdown' | 'realtime' | 'conversions' | 'funnel' | 'cohorts' | 'journeys';

interface Props {
  readonly id: ExplainedId;
  /** The query parameters of the report. */
  readonly query: object;
  readonly onClose: () => void;
}

type Explained = NonNullable<Answer<'stats'>['explain']>;

/** What a report counts: its definitions, which rows it leaves out, the records without a row, and its SQL. */
export function ExplainDialog({ id, query, onClose }: Props) {
  const { t } = useTexts();
  const { site_id } = useSite();
  const answer = useAdmin(id, { path: { site_id }, query: { ...query, explain: '1' } as QueryOf<'breakdown'> });
  return (
    <Dialog wide title={t('explain.title')} onClose={onClose}>
      <QueryAnswer query={answer as { data: { explain?: Explained } | undefined } & typeof answer} lines={10}>
        {({ explain }) => explain && <Explanation id={id} explain={explain} />}
      </QueryAnswer>
    </Dialog>
  );
}

const ROW_KINDS = ['counted', 'bots', 'internal_events', 'filtered'] as const;
const OTHER_KINDS = ['without_visitor', 'without_visit', 'visits_begun_before'] as const;

function Explanation({ id, explain }: { readonly id: ExplainedId; readonly explain: Explained }) {
  const texts = useTexts();
  const { t, number } = texts;
  const { left_out: out, statements } = explain;
  return (
    <div className="explain">
      <section>
        <h3>{t('explain.rows')}</h3>
        <p className="note">{t('explain.rowsHint')}</p>
        <table className="table facts">
          <tbody>
            {ROW_KINDS.map((kind) => (
              <tr key={kind}>
                <th scope="row">{t(`explain.${kind}`)}</th>
                <td className="number">{number(out[kind])}</td>
              </tr>
            ))}
            <tr className="sum">
              <th scope="row">{t('explain.all')}</th>
              <td className="number">{number(out.rows)}</td>
            </tr>
            {OTHER_KINDS.map((kind) => (
              <tr key={kind}>
                <th scope="row">{t(`explain.${kind}`)}</th>
                <td className="number">{number(out[kind])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section>
        <h3>{t('explain.books')}</h3>
        <p className="note">{t('explain.booksHint')}</p>
        {out.never_stored.length === 0 ? (
          <p>{t('noneAtAll')}</p>
        ) : (
          <FactsTable
            kind="number"
            facts={out.never_stored.map(({ outcome, reason, records }) => {
              const raw = `${outcome} ${reason}`;
              const heading = (
                <>
                  {outcomeText(texts, outcome)} <span className="muted">{raw}</span>
                </>
              );
              return [raw, number(records), heading];
            })}
          />
        )}
      </section>
      <section>
        <h3>{t('explain.definitions')}</h3>
        {id === 'stats' || id === 'breakdown' ? (
          <dl className="definitions">
            {METRICS.map((name) => (
              <div key={name}>
                <dt>{t(metricLabel(name))}</dt>
                <dd>{t(`definition.${name}`)}</dd>
              </div>
            ))}
          </dl>
        ) : (
          <p>{t(`definition.${id}`)}</p>
        )}
      </section>
      <section>
        <h3>{t('explain.sql')}</h3>
        <p className="note">{t('explain.sqlHint')}</p>
        {statements.map((one) => (
          <CodeBlock key={one.of} code={statementText(one)} label={`SQL: ${one.of}`} copyLabel={t('copy.sql')} />
        ))}
      </section>
    </div>
  );
}
