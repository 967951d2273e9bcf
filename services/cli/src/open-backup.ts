import { join } from 'node:path';
import { dropCommits } from '@weir/adapters/lmdb/lmdb-drop-commits';
import { GROUP_WRITER } from '@weir/domain/records/topics';

/** The writer's commits are younger than the restored tables. Without them it continues after what the tables hold. */
export function dropWriterCommits(dataDir: string): Promise<void> {
  return dropCommits(join(dataDir, 'log'), GROUP_WRITER);
}
