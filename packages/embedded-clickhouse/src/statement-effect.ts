import type { PlannedStatement } from './plan-statement.ts';
import type { QueryRequest } from './query-request.ts';

/**
 * What a statement does to the parts of tables. `reads`: nothing. `defines`: it creates, drops, exchanges or renames tables or other objects,
 * and adds no rows. `inserts once`: it inserts rows with a deduplication token, so that each of its parts has a token. `changes`: anything
 * else.
 */
export type StatementEffect = 'reads' | 'defines' | 'inserts once' | 'changes';

/** The statement itself can have settings, which could switch the deduplication off. */
const SETTINGS = /\bSETTINGS\b/i;
const INTO = /^\s*INSERT\s+INTO\s/i;
const DEFINES = /^\s*(?:CREATE|DROP|EXCHANGE|RENAME)\s/i;
const CREATES_TABLE = /^\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMPORARY\s+)?TABLE\s/i;
/** With these words, a statement that creates a table or a view also fills it. */
const FILLS_TABLE = /\b(?:SELECT|CLONE)\b/i;
const FILLS_VIEW = /\b(?:POPULATE|REFRESH)\b/i;

export function statementEffect(planned: PlannedStatement, request: QueryRequest): StatementEffect {
  if (planned.isRead || request.isReadOnly) return 'reads';
  const { statement, data } = planned;
  const isOnce = data !== undefined && request.deduplicates && INTO.test(statement) && !SETTINGS.test(statement);
  if (isOnce) return 'inserts once';
  return data === undefined && DEFINES.test(statement) && !fills(statement) ? 'defines' : 'changes';
}

function fills(statement: string): boolean {
  return FILLS_VIEW.test(statement) || (CREATES_TABLE.test(statement) && FILLS_TABLE.test(statement));
}
