import { useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ExplainButton } from '../reports/explain-button.tsx';
import { useReportState } from '../reports/report-state.ts';
import { NameDialog } from '../ui/name-dialog.tsx';
import { QueryAnswer } from '../ui/states.tsx';
import { type FunnelAsked, stepText } from './funnel-address.ts';

interface Props {
  readonly asked: FunnelAsked;
  /** The name of the saved funnel with these steps and this longest time. Undefined if none is saved. */
  readonly name: string | undefined;
  /** Whether the funnel can be saved: it is not saved yet, and the reader is an administrator. */
  readonly canSave: boolean;
}

/** The numbers of a funnel as bars. */
export function FunnelResult({ asked, name, canSave }: Props) {
  const { t, percent } = useTexts();
  const path = { site_id: useSite().site_id };
  const state = useReportState();
  const steps = asked.steps.map(stepText);
  const query = { ...state.query, step: steps, within: asked.within };
  const funnel = useAdmin('funnel', { path, query, refresh: true, keep: true });
  const [isSaving, setSaving] = useState(false);
  return (
    <section className="card section" aria-labelledby="funnel" data-testid="funnel">
      <header className="panel-head">
        <h2 id="funnel" className="cut" title={name}>
          {name ?? t('funnel.title')}
        </h2>
        {canSave && (
          <button type="button" className="button small" onClick={() => setSaving(true)}>
            {t('funnel.save')}
          </button>
        )}
        <ExplainButton id="funnel" query={query} />
      </header>
      <QueryAnswer query={funnel} queryKey={['funnel']} lines={steps.length}>
        {(data) => (
          <div className={funnel.isPlaceholderData ? 'old' : undefined}>
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
                    {t('funnel.visitors', { count: step.visitors })}
                    {index > 0 && (
                      <span className="muted">
                        {' '}
                        {t('funnel.dropped', {
                          count: step.dropped,
                          rate: step.step_rate === null ? '–' : percent(step.step_rate),
                        })}
                      </span>
                    )}
                  </span>
                </li>
              ))}
            </ol>
          </div>
        )}
      </QueryAnswer>
      {isSaving && (
        <NameDialog
          title={t('funnel.save')}
          label={t('funnel.name')}
          operation="createFunnel"
          invalidates={['listFunnels']}
          input={(chosen) => ({ path, body: { name: chosen, steps, within: asked.within } })}
          onClose={() => setSaving(false)}
        />
      )}
    </section>
  );
}
