/** Formats a time for the admin API: ISO 8601 in UTC. */
export function formatTime(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
