import { v5 } from 'uuid';

/** Must never change: with another namespace, a second import of a file would store its events again. */
const IMPORT_NAMESPACE = '0b0f8c1e-9d3b-5a44-8c57-6a2f5e1d7c90';

/** Event IDs of a file's lines: UUIDv5 of site, file digest and line, so that a repeat or a replay gives the same ones. */
export function importEventIds(siteId: string, fileDigest: string): (line: number) => string {
  const file = v5(`${siteId}\n${fileDigest}`, IMPORT_NAMESPACE);
  return (line) => v5(String(line), file);
}
