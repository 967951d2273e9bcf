import { randomBytes } from 'node:crypto';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';

const SALT_BYTES = 32;

/** Opens the registry, which is stored in tables of the event log. */
export function openRegistryOf(
  eventLog: Pick<EventLog, 'openTable'>,
  { clock, logger }: { readonly clock: () => number; readonly logger: Logger },
): Promise<Registry> {
  return openLogRegistry({
    eventLog,
    clock,
    randomSalt: () => randomBytes(SALT_BYTES).toString('hex'),
    onDamage: (error) => logger.error({ err: error }, 'the registry skipped a row that it cannot read'),
    onUnknown: (rows) =>
      logger.warn({ rows }, 'the registry ignored rows of kinds that only a newer version of Weir knows'),
  });
}
