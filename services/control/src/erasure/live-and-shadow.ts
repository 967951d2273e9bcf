import type { Analytics } from '@weir/ports/analytics';

/** Returns the database of the live tables, and then the database of the shadow tables (docs/glossary.md) if a replay has created it. */
export function liveAndShadow(analytics: Pick<Analytics, 'select'>) {
  return analytics.select<{ name: string; live: boolean | number }>(
    `SELECT name, name = currentDatabase() AS live FROM system.databases
     WHERE name IN (currentDatabase(), concat(currentDatabase(), '_shadow')) ORDER BY live DESC`,
  );
}
