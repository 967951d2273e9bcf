export const ROLES = ['gateway', 'enricher', 'writer', 'control', 'archiver'] as const;
export type Role = (typeof ROLES)[number];

export const USAGE = `usage: npm start [-- ROLE …]

Starts Weir with all roles in one process, or only with the named ones.

roles:
  gateway    accepts hits, events and identities over HTTP and appends them to the event log
  enricher   turns each raw record into one outcome: a row, or the reason why there is none
  writer     inserts the rows into ClickHouse, each exactly once
  control    serves the admin API and the dashboard; runs erasures, retention, replays and backups
  archiver   copies events.raw and events.enriched to ARCHIVE_URL; runs only with this setting

Settings are environment variables; docs/operations.md lists them all. Examples:
  npm start
  PORT=9000 WEIR_DATA_DIR=/var/lib/weir npm start
  KAFKA_BROKERS=… REDIS_URL=… CLICKHOUSE_URL=… npm start -- gateway
`;

/**
 * Returns the roles that the command line names, or all roles if it names no role. Throws an error with the usage text if a role is
 * unknown.
 */
export function rolesFromArguments(names: readonly string[]): readonly Role[] {
  const unknown = names.filter((name) => !(ROLES as readonly string[]).includes(name));
  if (unknown.length > 0) throw new Error(`no such role: ${unknown.join(', ')}\n\n${USAGE}`);
  return names.length === 0 ? ROLES : ROLES.filter((role) => names.includes(role));
}
