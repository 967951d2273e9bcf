import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '@weir/runtime/config/config';

/**
 * Says whether the banner must still show the secrets of the first start: the admin token and the key of the demo site. If a start ended
 * before it printed them, for example because the port was in use, the next start shows them.
 */
export interface StartupBanner {
  readonly due: boolean;
  /**
   * True if an earlier start made the demo site and ended before it printed the banner. False in a folder that was restored from a backup: there the
   * banner is due too, but the key of the demo site is in use.
   */
  readonly interrupted: boolean;
  /** Call it before the demo site is made. */
  begin(): void;
  /** Call it when the banner was printed. Later starts do not show the secrets again. */
  done(): void;
}

/**
 * With Kafka the banner never shows secrets again, because another process may have created the demo site and printed its key.
 */
export function createStartupBanner({ engines, dataDir }: Pick<Config, 'engines' | 'dataDir'>): StartupBanner {
  const file = join(dataDir, 'log', 'welcomed');
  const begun = join(dataDir, 'log', 'welcoming');
  const due = engines.kafka === undefined && !existsSync(file);
  return {
    due,
    interrupted: due && existsSync(begun),
    begin() {
      if (due) writeFileSync(begun, '');
    },
    done() {
      if (!due) return;
      writeFileSync(file, '');
      rmSync(begun, { force: true });
    },
  };
}
