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
  /** Throws if another process has taken over the erasure. Called before each statement that changes a table. */
  readonly assertOwn: () => void;
  /** Receives the number of rows of a table before they are deleted. */
  readonly count: (table: string, rows: number) => Promise<void>;
  /**
   * Call it before the rows `erased` of this month are inserted. Resolves with true when it has stored that the insert was begun. Resolves with
   * false if an earlier attempt has begun the insert.
   */
  readonly begin: (month: number) => Promise<boolean>;
}
