import { useEffect, useId, useState } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import type { ReportState } from '../reports/report-state.ts';
import { usePropertyNames } from '../suggest/use-property-names.ts';
import { Form } from '../ui/form.tsx';
import { QueryAnswer } from '../ui/states.tsx';

/** The list has at most this many names. While the reader types, the input also offers the other names. */
const SHOWN_MAX = 9;

interface Props {
  readonly state: ReportState;
  /** The chosen property. Empty: none. */
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
}

/** Asks for a custom property. It offers the properties of the period, and lists the first ones until the reader has chosen one. */
export function PropertyForm({ state, chosen, onChoose }: Props) {
  const { t, number } = useTexts();
  const list = useId();
  const [text, setText] = useState(chosen);
  useEffect(() => setText(chosen), [chosen]);
  const known = usePropertyNames(state);
  return (
    <>
      <Form className="inline-form" onSubmit={() => onChoose(text.trim())}>
        <label className="visually-hidden" htmlFor="property-name">
          {t('property.name')}
        </label>
        <input
          id="property-name"
          list={list}
          autoComplete="off"
          placeholder={t('property.placeholder')}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <datalist id={list}>
          {known.data?.properties.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button type="submit" className="button small">
          {t('show')}
        </button>
      </Form>
      {chosen === '' && (
        <QueryAnswer query={known} lines={SHOWN_MAX}>
          {({ properties }) => (
            <>
              <p className="note">{t(properties.length === 0 ? 'property.none' : 'property.hint')}</p>
              <ol className="bar-list" data-testid="properties">
                {properties.slice(0, SHOWN_MAX).map(({ name, events }) => (
                  <li key={name}>
                    <button type="button" className="bar-row" title={name} onClick={() => onChoose(name)}>
                      <span
                        className="bar"
                        style={{ width: `${(100 * events) / Math.max(1, properties[0]?.events ?? 1)}%` }}
                      />
                      <span className="bar-text">{name}</span>
                      <span className="bar-number">{number(events)}</span>
                      <span className="visually-hidden">{t('metric.events')}</span>
                    </button>
                  </li>
                ))}
              </ol>
            </>
          )}
        </QueryAnswer>
      )}
    </>
  );
}
