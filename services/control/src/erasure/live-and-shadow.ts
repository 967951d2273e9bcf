import type { Analytics } from '@weir/ports/analytics';
import { shadowDatabase } from '@weir/ports/shadow-tables';

/** Returns the database of the live tables, and then the database of the shadow tables (docs/glossary.md) if a replay has created it. */
export async function liveAndShadow(analytics: Pick<Analytics, 'select'>) {
  const [live] = await analytics.select<{ name: string }>('SELECT currentDatabase() AS name');
  const name = live?.name ?? '';
  return analytics.select<{ name: string; live: boolean | number }>(
    `SELECT name, name = {live:String} AS live FROM system.databases
     WHERE name IN ({live:String}, {shadow:String}) ORDER BY live DESC`,
    { live: name, shadow: shadowDatabase(name) },
  );
}
