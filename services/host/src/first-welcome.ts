import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '@weir/runtime/config';

/**
 * Whether people have still to be told what the first start made (admin token, demo site's key). It counts as first until it has
 * printed: one that ended before (the port was taken, Ctrl-C) must not leave secrets that nobody has seen.
 */
export interface FirstWelcome {
  readonly due: boolean;
  /** It was printed. */
  done(): void;
}

/** With a log of its own alone: what Kafka holds may have been made, and told, by another process. */
export function createFirstWelcome({ engines, dataDir }: Pick<Config, 'engines' | 'dataDir'>): FirstWelcome {
  const file = join(dataDir, 'log', 'welcomed');
  const due = engines.kafka === undefined && !existsSync(file);
  return {
    due,
    done() {
      if (due) writeFileSync(file, '');
    },
  };
}
