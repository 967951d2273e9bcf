import { open } from 'node:fs/promises';

/** Makes the content of a file durable, or the names of the files in a folder. Does nothing if `path` does not exist: its table was dropped. */
export async function syncPath(path: string): Promise<void> {
  const opened = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (opened === undefined) return;
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
