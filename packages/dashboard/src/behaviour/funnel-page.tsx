import { useEffect, useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { navigate, useLocation, withQuery } from '../app/location.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ReportBar } from '../reports/report-bar.tsx';
import { useReportState } from '../reports/report-state.ts';
import { Icon } from '../ui/icon.tsx';
import { Empty, QueryAnswer } from '../ui/states.tsx';

const [STEPS_MIN, STEPS_MAX] = [2, 8];
interface Step {
  readonly type: 'event' | 'page';
  readonly value: string;
}

/** The steps in the address: `step=page:/&step=event:signup`. */
function stepsOf(query: URLSearchParams): readonly Step[] {
  return query.getAll('step').flatMap((text) => {
    const [type, ...value] = text.split(':');
    return type === 'event' || type === 'page' ? [{ type, value: value.join(':') }] : [];
  });
}

/** How many visitors went through some steps in their order. The steps are in the address, so a link shows the same funnel. */
export function FunnelPage() {
  const { t } = useTexts();
  const site = useSite();
  const state = useReportState();
  const { query: parameters } = useLocation();
  const shown = stepsOf(parameters);
  const [draft, setDraft] = useState<readonly Step[]>(
    shown.length >= STEPS_MIN
      ? shown
      : [
          { type: 'page', value: '/' },
          { type: 'event', value: '' },
        ],
  );
  useEffect(() => {
    document.title = `${t('nav.funnels')} · ${site.name} · Weir`;
  }, [t, site.name]);
  const change = (index: number, step: Partial<Step>) =>
    setDraft(draft.map((one, at) => (at === index ? { ...one, ...step } : one)));
  return (
    <>
      <h1 className="visually-hidden">{t('nav.funnels')}</h1>
      <ReportBar state={state} withCompare={false} />
      <form
        className="card section"
        aria-label={t('funnel.steps')}
        onSubmit={(event) => {
          event.preventDefault();
          const steps = draft.map(({ type, value }) => `${type}:${value.trim()}`);
          navigate(
            withQuery((query) => {
              query.delete('step');
              for (const step of steps) query.append('step', step);
            }),
            { replace: true },
          );
        }}
      >
        <h2>{t('funnel.steps')}</h2>
        <ol className="steps">
          {draft.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a step has no identity other than its place
            <li key={index}>
              <select
                aria-label={t('funnel.type', { step: index + 1 })}
                value={step.type}
                onChange={(event) => change(index, { type: event.target.value as Step['type'] })}
              >
                <option value="page">{t('step.page')}</option>
                <option value="event">{t('step.event')}</option>
              </select>
              <input
                required
                aria-label={t('funnel.value', { step: index + 1 })}
                placeholder={step.type === 'page' ? '/checkout/*' : 'signup'}
                value={step.value}
                onChange={(event) => change(index, { value: event.target.value })}
              />
              {draft.length > STEPS_MIN && (
                <button
                  type="button"
                  className="icon-button"
                  aria-label={t('funnel.remove', { step: index + 1 })}
                  onClick={() => setDraft(draft.filter((_, at) => at !== index))}
                >
                  <Icon name="close" size={16} />
                </button>
              )}
            </li>
          ))}
        </ol>
        <div className="actions start">
          <button
            type="button"
            className="button"
            disabled={draft.length >= STEPS_MAX}
            onClick={() => setDraft([...draft, { type: 'event', value: '' }])}
          >
            <Icon name="plus" size={16} /> {t('funnel.add')}
          </button>
          <button type="submit" className="button primary">
            {t('funnel.show')}
          </button>
        </div>
      </form>
      {shown.length >= STEPS_MIN ? <Funnel steps={shown} /> : <Empty title={t('funnel.none')} />}
    </>
  );
}

function Funnel({ steps }: { readonly steps: readonly Step[] }) {
  const { t, number, percent } = useTexts();
  const { site_id } = useSite();
  const state = useReportState();
  const query = { ...state.query, step: steps.map(({ type, value }) => `${type}:${value}`) };
  const funnel = useAdmin('funnel', { path: { site_id }, query, keep: true });
  return (
    <section className="card section" aria-labelledby="funnel" data-testid="funnel">
      <h2 id="funnel">{t('funnel.title')}</h2>
      <QueryAnswer query={funnel} lines={steps.length}>
        {(data) => (
          <>
            <p>
              <b>{data.conversion_rate === null ? '–' : percent(data.conversion_rate)}</b> {t('funnel.rate')}
            </p>
            <ol className="funnel">
              {data.steps.map((step, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a step has no identity other than its place
                <li key={`${index} ${step.value}`}>
                  <span className="funnel-bar" style={{ width: `${100 * (step.rate ?? 0)}%` }} />
                  <span className="funnel-text">
                    {index + 1}. {t(`step.${step.type}`)} <b>{step.value}</b>
                  </span>
                  <span className="funnel-number">
                    {number(step.visitors)} {t('funnel.visitors')}
                    {index > 0 && (
                      <span className="muted">
                        {' '}
                        {t('funnel.dropped', {
                          dropped: number(step.dropped),
                          rate: step.step_rate === null ? '–' : percent(step.step_rate),
                        })}
                      </span>
                    )}
                  </span>
                </li>
              ))}
            </ol>
          </>
        )}
      </QueryAnswer>
    </section>
  );
}
