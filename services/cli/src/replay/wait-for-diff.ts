import type { AdminClient } from '../admin-client.ts';
import type { CliIo } from '../cli-io.ts';
import { createLaterProgress } from '../progress-bar.ts';
import type { DiffView } from './human-diff.ts';

interface UnfinishedDiff {
  readonly steps_done: number;
  readonly steps: number;
}

/** Resolves with a diff of the replay. Repeats the call until the diff is complete, and shows the progress. Rejects as `client.call` does. */
export async function waitForDiff(io: CliIo, client: AdminClient, path: string): Promise<DiffView> {
  const progress = createLaterProgress(io, 'steps');
  try {
    for (;;) {
      const answer = await client.call<DiffView | UnfinishedDiff>('GET', path);
      if ('days' in answer) return answer;
      progress.update(answer.steps_done, answer.steps);
    }
  } finally {
    progress.stop();
  }
}
