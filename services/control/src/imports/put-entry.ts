import type { Site } from '@weir/domain/registry/site';
import type { ImportLedgerEntry } from '@weir/ports/registry';
import type { AdminDeps } from '../control-deps.ts';

/**
 * Stores a row of the ledger of imports, unless the registry has the same row. If the site was removed meanwhile, it stores nothing and resolves
 * with false. This is also so if a new site has the same ID: with a row of the removed site, an import into the new site would skip lines.
 */
export function putEntry(
  { registry, runExclusive }: Pick<AdminDeps, 'registry' | 'runExclusive'>,
  { siteId, createdAt }: Pick<Site, 'siteId' | 'createdAt'>,
  entry: ImportLedgerEntry,
): Promise<boolean> {
  return runExclusive(async () => {
    const known = registry.import(siteId, entry.fileDigest);
    if (registry.site(siteId)?.createdAt !== createdAt || known === undefined) return false;
    if (JSON.stringify(known) !== JSON.stringify(entry)) await registry.putImport(entry);
    return true;
  });
}
