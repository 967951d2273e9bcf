const KEY = 'weir-sql-history';
const STATEMENTS_MAX = 50;
/** The maximum length of all statements together. A browser stores about five million chars for all pages of an origin. */
const CHARS_MAX = 200_000;
/** API keys and tokens of viewers. A statement that contains one is not stored. */
const SECRET = /\bw[kv]_[\w-]{8,}/;

/** The statements that were run in this browser, the last one first. */
export function readHistory(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? limit(stored.filter((one) => typeof one === 'string')) : [];
  } catch {
    // The storage is blocked, or another program has written to it.
    return [];
  }
}

/**
 * Stores a statement, and returns all of them. Reads the storage again, because another tab may have written to it. Without storage, it adds
 * the statement to those that the page shows.
 */
export function addToHistory(statement: string, shown: readonly string[]): readonly string[] {
  if (SECRET.test(statement)) return shown;
  const before = (list: readonly string[]) => limit([statement, ...list.filter((one) => one !== statement)]);
  const statements = before(readHistory());
  try {
    localStorage.setItem(KEY, JSON.stringify(statements));
    return statements;
  } catch {
    // The storage is blocked. The history ends with the page.
    return before(shown);
  }
}

export function clearHistory(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // The storage is blocked, so there is no history.
  }
}

function limit(statements: readonly string[]): readonly string[] {
  let chars = 0;
  return statements.slice(0, STATEMENTS_MAX).filter((one) => {
    chars += one.length;
    return chars <= CHARS_MAX;
  });
}
