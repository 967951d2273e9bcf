import type { Analytics } from '@weir/ports/analytics';

/** The time for a whole export, at the speed of its reader. */
export const EXPORT_SECONDS_MAX = 6 * 3600;

export type ExportedTables = Pick<Analytics, 'select' | 'streamQuery' | 'generation'>;

export interface ExportDeps {
  readonly exportedTables: ExportedTables;
  readonly clock: () => number;
}
