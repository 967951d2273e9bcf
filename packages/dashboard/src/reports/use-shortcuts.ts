import { useEffect } from 'react';
import { PERIOD_KEYS, selectPeriod } from './period-menu.tsx';
import { changeReport, PERIODS, type ReportState, setFilters } from './report-state.ts';

/** Single keys select a period, as in Plausible; X switches the comparison, Escape removes the filters. Not while something is typed. */
export function useShortcuts(state: ReportState): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
      if (target.closest('input, select, textarea, [role=dialog], [role=menu], [contenteditable]')) return;
      const key = event.key.toUpperCase();
      const period = PERIODS.find((one) => PERIOD_KEYS[one] === key);
      if (period !== undefined) selectPeriod(period);
      else if (key === 'X') changeReport({ compare: state.compare ? 'none' : undefined });
      else if (key === 'ESCAPE' && state.filters.length > 0) setFilters([]);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [state]);
}
