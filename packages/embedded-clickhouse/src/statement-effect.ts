import type { PlannedStatement } from './plan-statement.ts';
import type { QueryRequest } from './query-request.ts';

/**
 * What a statement does to the parts of tables: nothing; or it inserts rows with a deduplication token, so that each of its parts has a
 * token; or it may do anything else.
 */
export type StatementEffect = 'reads' | 'inserts once' | 'changes';

/** The statement itself can have settings, which could switch the deduplication off. */
const SETTINGS = /\bSETTINGS\b/i;
const INTO = /^\s*INSERT\s+INTO\s/i;

export function statementEffect(planned: PlannedStatement, request: QueryRequest): StatementEffect {
  if (planned.isRead || request.isReadOnly) return 'reads';
  const { statement, data } = planned;
  const isOnce = data !== undefined && request.deduplicates && INTO.test(statement) && !SETTINGS.test(statement);
  return isOnce ? 'inserts once' : 'changes';
}
