import { v5 } from 'uuid';

/** Must never change. With another namespace, an interrupted import would continue with other event IDs, and could store events twice. */
const IMPORT_NAMESPACE = '0b0f8c1e-9d3b-5a44-8c57-6a2f5e1d7c90';

/**
 * Returns the function that makes the event ID of a line from its number: UUIDv5 of site, file digest and line number. So a second import
 * of the same file gives the same event IDs.
 */
export function importEventIds(siteId: string, fileDigest: string): (line: number) => string {
  const file = v5(`${siteId}\n${fileDigest}`, IMPORT_NAMESPACE);
  return (line) => v5(String(line), file);
}
