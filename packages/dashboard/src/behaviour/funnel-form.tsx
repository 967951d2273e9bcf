import { useEffect, useRef, useState } from 'react';
import { navigate } from '../app/location.ts';
import { useTexts } from '../i18n/text-context.tsx';
import type { ReportState } from '../reports/report-state.ts';
import { ActionInput } from '../suggest/action-input.tsx';
import { Form } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { type FunnelAsked, funnelAddress, STEPS_MAX, STEPS_MIN, type Step, stepText } from './funnel-address.ts';

const WITHIN = ['30m', '1h', '24h', '7d', '30d', '90d'];
const FIRST_DRAFT: readonly Step[] = [
  { type: 'page', value: '/' },
  { type: 'event', value: '' },
];

/** A form for the steps of a funnel, and for the longest time from the first step to the last one. Sending it shows the funnel. */
export function FunnelForm({ asked, state }: { readonly asked: FunnelAsked; readonly state: ReportState }) {
  const { t, span } = useTexts();
  const [draft, setDraft] = useState(asked.steps.length >= STEPS_MIN ? asked.steps : FIRST_DRAFT);
  const [within, setWithin] = useState(asked.within);
  const add = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (asked.steps.length >= STEPS_MIN) setDraft(asked.steps);
    setWithin(asked.within);
  }, [asked]);
  const change = (index: number, step: Partial<Step>) =>
    setDraft(draft.map((one, at) => (at === index ? { ...one, ...step } : one)));
  return (
    <Form
      className="card section"
      aria-label={t('funnel.steps')}
      onSubmit={() => {
        const steps = draft.map(({ type, value }) => stepText({ type, value: value.trim() }));
        navigate(funnelAddress(steps, within), { replace: true });
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
            <ActionInput
              required
              aria-label={t('funnel.value', { step: index + 1 })}
              kind={step.type}
              value={step.value}
              state={state}
              onType={(value) => change(index, { value })}
            />
            {draft.length > STEPS_MIN && (
              <button
                type="button"
                className="icon-button"
                aria-label={t('funnel.remove', { step: index + 1 })}
                onClick={() => {
                  // The pressed button can go away with its step.
                  add.current?.focus();
                  setDraft(draft.filter((_, at) => at !== index));
                }}
              >
                <Icon name="close" size={16} />
              </button>
            )}
          </li>
        ))}
      </ol>
      <label className="narrow">
        {t('funnel.within')}
        <select value={within} onChange={(event) => setWithin(event.target.value)}>
          {[...new Set([...WITHIN, within])].map((one) => (
            <option key={one} value={one}>
              {span(one)}
            </option>
          ))}
        </select>
      </label>
      <div className="actions start">
        <button
          ref={add}
          type="button"
          className="button"
          aria-disabled={draft.length >= STEPS_MAX}
          onClick={() => draft.length < STEPS_MAX && setDraft([...draft, { type: 'event', value: '' }])}
        >
          <Icon name="plus" size={16} /> {t('funnel.add')}
        </button>
        <button type="submit" className="button primary">
          {t('funnel.show')}
        </button>
      </div>
    </Form>
  );
}
