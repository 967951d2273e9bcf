import { useDeferredValue, useId, useState } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import { valuesOf } from '../suggest/named-values.ts';
import { usePropertyNames } from '../suggest/use-property-names.ts';
import { useValues, ValueOptions } from '../suggest/value-options.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Problem } from '../ui/states.tsx';
import { DIMENSIONS, dimensionLabel, isDone } from './dimension-view.ts';
import { FILTER_OPERATORS, type FilterOperator } from './filter-text.ts';
import { addFilter, canAddFilter, FILTERS_MAX, type ReportState } from './report-state.ts';

/** Adds a filter. Properties and values that occur in the period are offered. */
export function FilterDialog({ state, onClose }: { readonly state: ReportState; readonly onClose: () => void }) {
  const texts = useTexts();
  const { t } = texts;
  const list = useId();
  const names = useId();
  const [dimension, setDimension] = useState<string>('page');
  const [property, setProperty] = useState('');
  const [operator, setOperator] = useState<FilterOperator>('is');
  const [value, setValue] = useState('');
  const name = dimension === 'property' ? `property:${property.trim()}` : dimension;
  const word = useDeferredValue(value.trim());
  const properties = usePropertyNames(state, dimension === 'property');
  const values = { dimension: name, state, word, enabled: name !== 'property:' };
  const { values: known, isWaiting, error, retry } = useValues(values);
  // `is` and `is_not` compare whole values, so a typed name becomes its code. The other operators compare a part of the code with the typed text.
  const isWhole = operator === 'is' || operator === 'is_not';
  const isComplete = word !== '' && !isWaiting && error === null;
  const chosen = isWhole ? valuesOf(texts, name, value, isComplete ? known : undefined) : [value];
  const added = { dimension: name, operator, values: chosen ?? [] };
  const isFull = !canAddFilter(state.filters, added);
  return (
    <Dialog title={t('filter.add')} onClose={onClose}>
      <Form
        onSubmit={() => {
          addFilter(state.filters, added);
          onClose();
        }}
      >
        <div className="columns">
          <label>
            {t('filter.dimension')}
            <select value={dimension} onChange={(event) => setDimension(event.target.value)}>
              {DIMENSIONS.map((one) => (
                <option key={one} value={one}>
                  {t(dimensionLabel(one))}
                </option>
              ))}
              <option value="property">{t('tab.property')}</option>
            </select>
          </label>
          <label>
            {t('filter.operator')}
            <select value={operator} onChange={(event) => setOperator(event.target.value as FilterOperator)}>
              {FILTER_OPERATORS.map((one) => (
                <option key={one} value={one}>
                  {t(`operator.${one}`)}
                </option>
              ))}
            </select>
          </label>
        </div>
        {dimension === 'property' && (
          <label>
            {t('property.name')}
            <input
              required
              list={names}
              autoComplete="off"
              value={property}
              onChange={(event) => setProperty(event.target.value)}
            />
          </label>
        )}
        <datalist id={names}>
          {properties.data?.properties.map((one) => (
            <option key={one.name} value={one.name} />
          ))}
        </datalist>
        <label>
          {t('filter.value')}
          <input
            list={list}
            value={value}
            maxLength={1024}
            autoComplete="off"
            required={isDone(dimension) || !isWhole}
            onChange={(event) => setValue(event.target.value)}
          />
        </label>
        <ValueOptions key={name} id={list} {...values} />
        {isDone(dimension) && <p className="note">{t('filter.doneHint')}</p>}
        {(operator.startsWith('matches') || !isDone(dimension)) && (
          <p className="note">{t(operator.startsWith('matches') ? 'filter.globHint' : 'filter.emptyHint')}</p>
        )}
        {chosen === undefined && error !== null && <Problem error={error} onRetry={retry} />}
        {isFull && (
          <p className="problem" role="alert">
            {t('filter.tooMany', { max: FILTERS_MAX })}
          </p>
        )}
        <div className="actions">
          <button type="submit" className="button primary" disabled={isFull || chosen === undefined}>
            {t('filter.apply')}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
