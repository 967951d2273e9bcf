import { useDeferredValue, useId, useState } from 'react';
import type { QueryOf } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { DIMENSIONS, dimensionLabel, valueText } from './dimension-view.ts';
import { FILTER_OPERATORS, type FilterOperator, formatFilter } from './filter-text.ts';
import { addFilter, type ReportState } from './report-state.ts';

const SUGGESTIONS = 30;

/** Adds a filter. Values that occur in the period are suggested. */
export function FilterDialog({ state, onClose }: { readonly state: ReportState; readonly onClose: () => void }) {
  const texts = useTexts();
  const { t } = texts;
  const { site_id } = useSite();
  const list = useId();
  const [dimension, setDimension] = useState<string>('page');
  const [property, setProperty] = useState('');
  const [operator, setOperator] = useState<FilterOperator>('is');
  const [value, setValue] = useState('');
  const name = dimension === 'property' ? `property:${property.trim()}` : dimension;
  const word = useDeferredValue(value.trim());
  const query = {
    ...state.query,
    dimension: name,
    limit: SUGGESTIONS,
    filter: [
      ...(state.query.filter ?? []),
      ...(word === '' ? [] : [formatFilter({ dimension: name, operator: 'contains', values: [word] })]),
    ],
  } as QueryOf<'breakdown'>;
  const found = useAdmin('breakdown', { path: { site_id }, query, keep: true, enabled: name !== 'property:' });
  return (
    <Dialog title={t('filter.add')} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          addFilter(state.filters, { dimension: name, operator, values: [value] });
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
            <input required value={property} onChange={(event) => setProperty(event.target.value)} />
          </label>
        )}
        <label>
          {t('filter.value')}
          <input
            list={list}
            value={value}
            maxLength={1024}
            autoComplete="off"
            required={operator !== 'is' && operator !== 'is_not'}
            onChange={(event) => setValue(event.target.value)}
          />
        </label>
        <datalist id={list}>
          {found.data?.rows.map((row) => (
            <option key={row.value} value={row.value}>
              {valueText(texts, name, row.value)}
            </option>
          ))}
        </datalist>
        <p className="note">{t(operator.startsWith('matches') ? 'filter.globHint' : 'filter.emptyHint')}</p>
        <div className="actions">
          <button type="submit" className="button primary">
            {t('filter.apply')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
