import { useState } from 'react';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { usePageTitle } from '../app/page-title.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ExplainButton } from '../reports/explain-button.tsx';
import { ReportBar } from '../reports/report-bar.tsx';
import { type ReportState, useReportState } from '../reports/report-state.ts';
import { ActionInput } from '../suggest/action-input.tsx';
import { DataTable, RowButton } from '../ui/data-table.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Empty, Problem, QueryAnswer } from '../ui/states.tsx';

/** The pauses are short, because an administrator who has just added a goal waits for its first conversion. */
const REFRESH_MS = { min: 5_000, max: 60_000 };

/** The goals of a site with their conversions. An administrator adds and removes goals. */
export function GoalsPage({ isAdmin }: { readonly isAdmin: boolean }) {
  const { t, number, percent, money } = useTexts();
  const site = useSite();
  const state = useReportState();
  const path = { site_id: site.site_id };
  const conversions = useAdmin('conversions', { path, query: state.query, refresh: REFRESH_MS, keep: true });
  const remove = useChange('removeGoal', ['conversions', 'listGoals']);
  const [asked, setAsked] = useState<{ readonly goal_id: string; readonly name: string }>();
  usePageTitle(t('nav.goals'), site.name);
  return (
    <>
      <h1 className="visually-hidden">{t('nav.goals')}</h1>
      <ReportBar state={state} withCompare={false} />
      <section className="card section" aria-labelledby="goals">
        <header className="panel-head">
          <h2 id="goals">{t('nav.goals')}</h2>
          <ExplainButton id="conversions" query={state.query} />
        </header>
        {remove.error && <Problem error={remove.error} />}
        <QueryAnswer query={conversions} queryKey={['conversions']} lines={5}>
          {({ goals = [] }) => (
            <DataTable
              isOld={conversions.isPlaceholderData}
              label={t('nav.goals')}
              testId="goals"
              rows={goals}
              none={
                <Empty title={t('goals.none')}>
                  <p className="note">{t('goals.noneHint')}</p>
                </Empty>
              }
              keyOf={({ goal_id }) => goal_id}
              columns={[
                { title: t('goals.goal'), kind: 'name', fit: 'long', cell: (goal) => goal.name },
                {
                  title: t('goals.matches'),
                  fit: 'long',
                  cell: (goal) => (
                    <>
                      {t(`step.${goal.type}`)} <code>{goal.value}</code>
                    </>
                  ),
                },
                { title: t('goals.conversions'), kind: 'number', cell: (goal) => number(goal.conversions) },
                { title: t('goals.visitors'), kind: 'number', cell: (goal) => number(goal.converting_visitors) },
                {
                  title: t('goals.rate'),
                  kind: 'number',
                  cell: (goal) => (goal.conversion_rate === null ? '–' : percent(goal.conversion_rate)),
                },
                {
                  title: t('goals.revenue'),
                  kind: 'number',
                  cell: (goal) => goal.revenue.map((one) => money(one.amount, one.currency)).join(', ') || '–',
                },
                ...(isAdmin
                  ? [
                      {
                        cell: (goal: (typeof goals)[number]) => (
                          <RowButton
                            isDanger
                            text={t('remove')}
                            label={t('removeName', { name: goal.name })}
                            onClick={() => setAsked(goal)}
                          />
                        ),
                      },
                    ]
                  : []),
              ]}
            />
          )}
        </QueryAnswer>
      </section>
      {isAdmin && <NewGoal siteId={site.site_id} state={state} />}
      {asked && (
        <ConfirmDialog
          removes
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

function NewGoal({ siteId, state }: { readonly siteId: string; readonly state: ReportState }) {
  const { t } = useTexts();
  const create = useChange('createGoal', ['conversions', 'listGoals']);
  const [type, setType] = useState<'event' | 'page'>('event');
  const [value, setValue] = useState('');
  const [name, setName] = useState('');
  return (
    <section className="card section" aria-labelledby="new-goal">
      <h2 id="new-goal">{t('goals.add')}</h2>
      <Form
        className="inline-form"
        onSubmit={() => {
          const body = { type, value: value.trim(), ...(name.trim() && { name: name.trim() }) };
          // `onSuccess` is called when the conversions have been loaded again. What the reader has typed in the meantime stays.
          const onSuccess = () => {
            setValue((now) => (now === value ? '' : now));
            setName((now) => (now === name ? '' : now));
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
        <label htmlFor="goal-value">
          {t(type === 'event' ? 'goals.event' : 'goals.page')}
          <ActionInput id="goal-value" required kind={type} value={value} state={state} onType={setValue} />
        </label>
        <label>
          {t('goals.name')}
          <input placeholder={value} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <button type="submit" className="button primary" disabled={create.isPending}>
          {t('goals.add')}
        </button>
      </Form>
      {create.error && <Problem error={create.error} />}
    </section>
  );
}
