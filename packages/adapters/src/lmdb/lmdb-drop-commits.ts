import { open } from 'lmdb';

/**
 * Removes the commits of a consumer group from a log. No process may have the log open. The next member of the group then starts where the
 * first member of a new group starts. Without a commit, the writer finds its start in ClickHouse: after the highest raw offset
 * (docs/glossary.md) in the table `records`.
 */
export async function dropCommits(folder: string, group: string): Promise<void> {
  const env = open({ path: folder, maxDbs: 8 });
  const commits = env.openDB<unknown, [string, string, number]>({ name: 'commits' });
  const keys = [...commits.getKeys()].filter(([owner]) => owner === group);
  for (const key of keys) await commits.remove(key);
  await env.close();
}
