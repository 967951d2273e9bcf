import { useEffect, useState } from 'react';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ReportBar } from '../reports/report-bar.tsx';
import { useReportState } from '../reports/report-state.ts';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { ScrollBox } from '../ui/scroll-box.tsx';
import { Empty, Problem, QueryAnswer } from '../ui/states.tsx';

/** The goals of a site with their conversions. An administrator adds and removes goals. */
export function GoalsPage({ isAdmin }: { readonly isAdmin: boolean }) {
  const { t, number, percent, money } = useTexts();
  const site = useSite();
  const state = useReportState();
  const path = { site_id: site.site_id };
  const conversions = useAdmin('conversions', { path, query: state.query, refresh: true, keep: true });
  const remove = useChange('removeGoal', ['conversions', 'listGoals']);
  const [asked, setAsked] = useState<{ readonly goal_id: string; readonly name: string }>();
  useEffect(() => {
    document.title = `${t('nav.goals')} · ${site.name} · Weir`;
  }, [t, site.name]);
  return (
    <>
      <h1 className="visually-hidden">{t('nav.goals')}</h1>
      <ReportBar state={state} withCompare={false} />
      {isAdmin && <NewGoal siteId={site.site_id} />}
      <section className="card section" aria-labelledby="goals">
        <h2 id="goals">{t('nav.goals')}</h2>
        {remove.error && <Problem error={remove.error} />}
        <QueryAnswer query={conversions} lines={5}>
          {({ goals = [] }) =>
            goals.length === 0 ? (
              <Empty title={t('goals.none')}>
                <p className="note">{t('goals.noneHint')}</p>
              </Empty>
            ) : (
              <ScrollBox label={t('nav.goals')}>
                <table className="table" data-testid="goals">
                  <thead>
                    <tr>
                      <th scope="col">{t('goals.goal')}</th>
                      <th scope="col">{t('goals.matches')}</th>
                      <th scope="col" className="number">
                        {t('goals.conversions')}
                      </th>
                      <th scope="col" className="number">
                        {t('goals.visitors')}
                      </th>
                      <th scope="col" className="number">
                        {t('goals.rate')}
                      </th>
                      <th scope="col" className="number">
                        {t('goals.revenue')}
                      </th>
                      {isAdmin && (
                        <th scope="col">
                          <span className="visually-hidden">{t('actions')}</span>
                        </th>
                      )}
                    </tr>
                  </thead>
                  <tbody>
                    {goals.map((goal) => (
                      <tr key={goal.goal_id}>
                        <th scope="row" className="long">
                          {goal.name}
                        </th>
                        <td className="long">
                          {t(`step.${goal.type}`)} <code>{goal.value}</code>
                        </td>
                        <td className="number">{number(goal.conversions)}</td>
                        <td className="number">{number(goal.converting_visitors)}</td>
                        <td className="number">
                          {goal.conversion_rate === null ? '–' : percent(goal.conversion_rate)}
                        </td>
                        <td className="number">
                          {goal.revenue.map((one) => money(one.amount, one.currency)).join(', ') || '–'}
                        </td>
                        {isAdmin && (
                          <td className="number">
                            <button
                              type="button"
                              className="button small danger"
                              aria-label={t('removeName', { name: goal.name })}
                              onClick={() => setAsked(goal)}
                            >
                              {t('remove')}
                            </button>
                          </td>
                        )}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </ScrollBox>
            )
          }
        </QueryAnswer>
      </section>
      {asked && (
        <ConfirmDialog
          title={t('goals.removeTitle', { name: asked.name })}
          text={t('goals.removeText')}
          action={t('remove')}
          onConfirm={() => remove.mutate({ path: { ...path, goal_id: asked.goal_id } })}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

function NewGoal({ siteId }: { readonly siteId: string }) {
  const { t } = useTexts();
  const create = useChange('createGoal', ['conversions', 'listGoals']);
  const [type, setType] = useState<'event' | 'page'>('event');
  const [value, setValue] = useState('');
  const [name, setName] = useState('');
  return (
    <section className="card section" aria-labelledby="new-goal">
      <h2 id="new-goal">{t('goals.add')}</h2>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          const body = { type, value: value.trim(), ...(name.trim() && { name: name.trim() }) };
          const onSuccess = () => {
            setValue('');
            setName('');
          };
          create.mutate({ path: { site_id: siteId }, body: body as { type: 'event'; value: string } }, { onSuccess });
        }}
      >
        <label>
          {t('goals.type')}
          <select value={type} onChange={(event) => setType(event.target.value as 'event' | 'page')}>
            <option value="event">{t('step.event')}</option>
            <option value="page">{t('step.page')}</option>
          </select>
        </label>
        <label>
          {t(type === 'event' ? 'goals.event' : 'goals.page')}
          <input
            required
            placeholder={type === 'event' ? 'signup' : '/checkout/*'}
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        </label>
        <label>
          {t('goals.name')}
          <input placeholder={value} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <button type="submit" className="button primary" disabled={create.isPending}>
          {t('goals.add')}
        </button>
      </form>
      {create.error && <Problem error={create.error} />}
    </section>
  );
}
