import type { Analytics } from '@weir/ports/analytics';
import type { PersonSql } from './person-sql.ts';

/** The records to erase, and the set of tables in which they are erased. */
export interface EraseTables {
  readonly analytics: Analytics;
  /** The database of the live tables, or of the shadow tables (docs/glossary.md) of a replay. */
  readonly database: string;
  readonly person: PersonSql;
  /** Part of the deduplication tokens, so that each erasure has its own tokens. */
  readonly erasureId: string;
  /** Runs one statement that changes tables. Rejects, and changes nothing, if another process has taken over the erasure or the work must stop. */
  readonly change: (statement: string, token?: string) => Promise<void>;
  /** Receives the number of rows of a table before they are deleted. */
  readonly count: (table: string, rows: number) => Promise<void>;
  /**
   * Resolves with the time at which the rows `erased` of this month were first inserted. The first call for a month stores the present time as this
   * time.
   */
  readonly begin: (month: number) => Promise<number>;
  readonly clock: () => number;
}
