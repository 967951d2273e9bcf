/**
 * Finds the settings of the server for the deduplication of an `INSERT … SELECT` by its token. ClickHouse 25.8 needs no setting. 25.12 needs
 * `insert_select_deduplicate`. 26.1 replaced it by `deduplicate_insert_select`, whose default ignores the token if the query has no
 * `ORDER BY ALL`. Weir's statements do not need `ORDER BY ALL`: when they are repeated, they return the same rows in the same order. A server
 * refuses a setting that it does not have.
 */
export const SELECT_TOKENS_QUERY =
  "SELECT name FROM system.settings WHERE name IN ('deduplicate_insert_select', 'insert_select_deduplicate') AND NOT is_obsolete";

/** The settings with which this server deduplicates an `INSERT … SELECT`. `known`: the answer to SELECT_TOKENS_QUERY. */
export function selectTokenSettings(
  known: readonly { readonly name: string }[],
): Readonly<Record<string, string | number>> {
  const names = known.map(({ name }) => name);
  if (names.includes('deduplicate_insert_select')) return { deduplicate_insert_select: 'enable_even_for_bad_queries' };
  return names.includes('insert_select_deduplicate') ? { insert_select_deduplicate: 1 } : {};
}
