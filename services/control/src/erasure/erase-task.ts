import type { Analytics } from '@weir/ports/analytics';
import type { PersonSql } from './person-sql.ts';

/** What is to be removed, and from which tables. */
export interface EraseTables {
  readonly analytics: Analytics;
  /** The database of a generation of the tables. */
  readonly database: string;
  readonly person: PersonSql;
  /** Tells the inserts of this erasure from those of others. */
  readonly erasureId: string;
  /** Throws when another process has taken over. Called before each statement that changes a table. */
  readonly assertOwn: () => void;
  /** Called with the number of rows before they are removed. */
  readonly count: (table: string, rows: number) => Promise<void>;
  /** Resolves with the time when the insert of the rows `erased` of a month was begun, which may be now. */
  readonly begin: (month: number) => Promise<number>;
  readonly clock: () => number;
}
