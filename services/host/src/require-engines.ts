import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import type { Ports } from './open-ports.ts';
import type { Readiness } from './readiness.ts';
import type { Role } from './roles.ts';

/** A probe waits no longer; an engine that hangs is away. */
const ANSWER_WITHIN_MS = 2_000;

export interface RequiredEngines {
  readonly ports: Pick<Ports, 'eventLog' | 'stateStore'>;
  readonly analytics: Analytics | undefined;
  readonly readiness: Readiness;
}

/**
 * Ready means: can do its work now. A process that takes records needs the log for that and nothing else, whatever its other
 * roles wait for.
 */
export function requireEngines(roles: readonly Role[], { ports, analytics, readiness }: RequiredEngines): void {
  readiness.while('event log', () => answers(ports.eventLog.ping()));
  if (roles.includes('gateway')) return;
  if (roles.includes('enricher')) readiness.while('state store', () => answers(ports.stateStore.ping()));
  if (analytics !== undefined) readiness.while('analytics store', () => answers(analytics.ping()));
}

async function answers(ping: Promise<void>): Promise<boolean> {
  const given = new AbortController();
  const late = pause(ANSWER_WITHIN_MS, false, { signal: given.signal, ref: false }).catch(() => false);
  try {
    return await Promise.race([ping.then(() => true), late]);
  } catch (error) {
    if (isDependencyError(error)) return false;
    throw error;
  } finally {
    given.abort();
  }
}
