import { useRef, useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { late } from '../app/late.tsx';
import { navigate, pathTo } from '../app/location.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { conditionText, dimensionText, filterValuesText } from './dimension-view.ts';
import { formatFilter } from './filter-text.ts';
import { PERIOD_KEYS } from './period/period-keys.ts';
import { PeriodMenu, selectPeriod } from './period/period-menu.tsx';
import {
  COMPARISONS,
  changeReport,
  FILTERS_MAX,
  FULL_ID,
  PERIODS,
  type ReportState,
  setFilters,
} from './report-state.ts';
import { SegmentsMenu } from './segments-menu.tsx';
import { useShortcuts } from './use-shortcuts.ts';

const FilterDialog = late(async () => (await import('./filter-dialog.tsx')).FilterDialog);
const ShortcutsDialog = late(async () => (await import('./shortcuts-dialog.tsx')).ShortcutsDialog);

/** The site, its visitors now, and what all reports of the page share: period, comparison, bots and filters. */
export function ReportBar({
  state,
  withCompare = true,
}: {
  readonly state: ReportState;
  readonly withCompare?: boolean;
}) {
  const texts = useTexts();
  const { t } = texts;
  const site = useSite();
  const [isFiltering, setFiltering] = useState(false);
  const [isHelp, setHelp] = useState(false);
  const filterButton = useRef<HTMLButtonElement>(null);
  /** Moves the focus away from a button that the change removes. */
  const keepFocus = (change: () => void) => () => {
    filterButton.current?.focus();
    change();
  };
  const canCompare = withCompare && state.query.period !== 'all';
  useShortcuts([
    ...PERIODS.map((period) => [PERIOD_KEYS[period], () => selectPeriod(period)] as const),
    ['X', () => canCompare && changeReport({ compare: state.compare ? 'none' : undefined })],
    ['F', () => setFiltering(true)],
    ['R', () => navigate(pathTo('sites', site.site_id, 'realtime') + location.search)],
    ['?', () => setHelp(true)],
    ['Escape', () => state.filters.length > 0 && setFilters([])],
  ]);
  const now = useAdmin('realtime', { path: { site_id: site.site_id }, query: { limit: 1 }, refresh: true });
  return (
    <div className="report-bar">
      <div className="report-place">
        <span className="report-site" title={site.domain}>
          {site.name}
        </span>
        <span className="now" role="status">
          {now.data && now.error === null && (
            <>
              {now.data.last_5_minutes.visitors > 0 && <i className="pulse" aria-hidden="true" />}
              {t('visitors.now', { count: now.data.last_5_minutes.visitors })}
            </>
          )}
        </span>
      </div>
      <div className="report-tools">
        <button ref={filterButton} type="button" className="button" onClick={() => setFiltering(true)}>
          <Icon name="filter" size={16} /> {t('filter.add')}
        </button>
        <SegmentsMenu state={state} />
        {canCompare && (
          <Menu
            label={t(state.compare ? `compare.${state.compare}` : 'compare.none')}
            name={`${t('compare.name')}: ${t(state.compare ? `compare.${state.compare}` : 'compare.none')}`}
          >
            {COMPARISONS.map((one) => (
              <MenuItem
                key={one}
                isChecked={state.compare === one}
                onSelect={() => changeReport({ compare: one === 'previous_period' ? undefined : one })}
              >
                {t(`compare.${one}`)}
              </MenuItem>
            ))}
            <MenuItem isChecked={state.compare === undefined} onSelect={() => changeReport({ compare: 'none' })}>
              {t('compare.none')}
            </MenuItem>
          </Menu>
        )}
        <PeriodMenu state={state} />
      </div>
      {(state.filters.length > 0 || state.query.bots === 'include') && (
        <ul className="chips" aria-label={t('filters')}>
          {state.filters.map((filter, index) => (
            <li key={formatFilter(filter)} className="chip">
              <span className="chip-text" title={filterValuesText(texts, filter)}>
                {conditionText(texts, filter)} <b>{filterValuesText(texts, filter)}</b>
              </span>
              <button
                type="button"
                className="chip-remove"
                aria-label={t('filter.remove', { name: dimensionText(texts, filter.dimension) })}
                onClick={keepFocus(() => setFilters(state.filters.filter((_, at) => at !== index)))}
              >
                <Icon name="close" size={14} />
              </button>
            </li>
          ))}
          {state.query.bots === 'include' && (
            <li className="chip">
              <span className="chip-text">{t('bots.included')}</span>
              <button
                type="button"
                className="chip-remove"
                aria-label={t('bots.exclude')}
                onClick={keepFocus(() => changeReport({ bots: undefined }))}
              >
                <Icon name="close" size={14} />
              </button>
            </li>
          )}
          {state.filters.length >= FILTERS_MAX && (
            <li id={FULL_ID} className="note" tabIndex={-1}>
              {t('filter.tooMany', { max: FILTERS_MAX })}
            </li>
          )}
          {state.filters.length > 1 && (
            <li>
              <button type="button" className="link" onClick={keepFocus(() => setFilters([]))}>
                {t('filter.clear')}
              </button>
            </li>
          )}
        </ul>
      )}
      {isHelp && <ShortcutsDialog canCompare={canCompare} onClose={() => setHelp(false)} />}
      {isFiltering && <FilterDialog state={state} onClose={() => setFiltering(false)} />}
    </div>
  );
}
