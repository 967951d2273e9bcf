import type { Period } from '../report-state.ts';

/** The keys of the periods: the same letters as in Plausible. */
export const PERIOD_KEYS: Readonly<Record<Period, string>> = {
  today: 'D',
  yesterday: 'E',
  '24h': 'H',
  '7d': 'W',
  '30d': 'T',
  '90d': 'N',
  month: 'M',
  year: 'Y',
  '12mo': 'L',
  all: 'A',
};
