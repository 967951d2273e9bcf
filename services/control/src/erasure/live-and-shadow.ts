import type { Analytics } from '@weir/ports/analytics';
import { shadowDatabase } from '@weir/ports/shadow-tables';

export async function liveDatabase(analytics: Pick<Analytics, 'select'>): Promise<string> {
  const [live] = await analytics.select<{ name: string }>('SELECT currentDatabase() AS name');
  return live?.name ?? '';
}

/** Resolves when the inserts into the live tables that are running now have ended. */
export async function liveInsertsEnd(analytics: Pick<Analytics, 'select' | 'runningInsertsEnd'>): Promise<void> {
  await analytics.runningInsertsEnd(await liveDatabase(analytics));
}

/** Returns the database of the live tables, and then the database of the shadow tables (docs/glossary.md) if a replay has created it. */
export async function liveAndShadow(analytics: Pick<Analytics, 'select'>) {
  const name = await liveDatabase(analytics);
  return analytics.select<{ name: string; live: boolean | number }>(
    `SELECT name, name = {live:String} AS live FROM system.databases
     WHERE name IN ({live:String}, {shadow:String}) ORDER BY live DESC`,
    { live: name, shadow: shadowDatabase(name) },
  );
}
