import type { Analytics } from '@weir/ports/analytics';

/** The longest time that an export can take. A slow client makes an export slow, because ClickHouse waits for the client. */
export const EXPORT_SECONDS_MAX = 6 * 3600;

export type ExportedTables = Pick<Analytics, 'select' | 'streamQuery' | 'generation'>;

export interface ExportDeps {
  readonly exportedTables: ExportedTables;
  readonly clock: () => number;
  /** Aborts when the caller has disconnected. */
  readonly signal: AbortSignal;
}
