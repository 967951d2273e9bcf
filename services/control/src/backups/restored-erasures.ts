import { setTimeout as pause } from 'node:timers/promises';
import type { Erasure, Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';

const LOOK_EVERY_MS = 100;
/** The phases in which an erasure has deleted its rows from the tables. */
const AFTER_TABLES: readonly Erasure['phase'][] = ['archive', 'done'];

/**
 * Resolves when the erasures that are newer than a restored backup were carried out again on the tables, or when the signal aborts. Weir must not
 * serve any request before that. Does not wait for erasures with `finishedAt`: they only wait until `WEIR_BACKUP_TO` can be written.
 */
export async function untilRestoredErasuresEnd(
  registry: Pick<Registry, 'erasures'>,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const open = () =>
    registry
      .erasures()
      .filter((one) => one.restored === true && one.finishedAt === undefined && !AFTER_TABLES.includes(one.phase));
  let said = '';
  for (let waiting = open(); waiting.length > 0 && !signal.aborted; waiting = open()) {
    const [{ problem = '' } = {}] = waiting;
    const state = `${waiting.length} ${problem}`;
    if (state !== said) {
      logger.info(
        { erasures: waiting.length, problem },
        'this is a restored backup: Weir serves no requests until the persons who were erased after the backup are erased again',
      );
    }
    said = state;
    await pause(LOOK_EVERY_MS);
  }
}
