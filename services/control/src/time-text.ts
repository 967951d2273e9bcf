/** Times of the admin API: ISO 8601 in UTC. */
export function timeText(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
