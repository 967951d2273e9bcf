import type { Dimension } from '../dimensions.ts';
import type { ReportParts, Scope } from '../report-sql.ts';
import { countsOnlyBots, onlyBotsParts } from './only-bots-parts.ts';
import { sessionParts } from './session-parts.ts';
import { stampedParts } from './stamped-parts.ts';

/**
 * Returns the SQL fragments of a report. A filter on a dimension of hits selects rows. A filter on a dimension of visits selects visits and
 * the rows of these visits. `columns`: further columns of `hit`.
 */
export function reportParts(scope: Scope, by?: Dimension, columns: readonly string[] = []): ReportParts {
  const { visits, filters } = scope;
  if (visits.of === 'sessions') return sessionParts(scope, by, columns);
  if (visits.bots === 'apart' && countsOnlyBots(filters, by)) return onlyBotsParts(scope, by, columns);
  return stampedParts({ ...scope, visits }, by, columns);
}
