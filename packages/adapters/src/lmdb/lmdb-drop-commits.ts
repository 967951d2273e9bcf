import { open } from 'lmdb';

/**
 * Removes the commits of a consumer group from a log that no process has open. Its next member starts as a new group does: the
 * writer, after the last raw offset that the table `records` holds.
 */
export async function dropCommits(folder: string, group: string): Promise<void> {
  const env = open({ path: folder, maxDbs: 8 });
  const commits = env.openDB<unknown, [string, string, number]>({ name: 'commits' });
  const keys = [...commits.getKeys()].filter(([owner]) => owner === group);
  for (const key of keys) await commits.remove(key);
  await env.close();
}
