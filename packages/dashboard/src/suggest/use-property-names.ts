import { useAdmin } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import type { ReportState } from '../reports/report-state.ts';

/** The most names that a page offers. A reader can also type other names. */
const NAMES_MAX = 200;

/** The custom properties that events of the period have, those of the most events first. */
export function usePropertyNames({ query }: ReportState, enabled = true) {
  const { site_id } = useSite();
  return useAdmin('properties', { path: { site_id }, query: { ...query, limit: NAMES_MAX }, keep: true, enabled });
}
