import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import type { Ports } from '../ports/open-ports.ts';
import type { Role } from '../roles.ts';
import type { Readiness } from '../watch/readiness.ts';

/** An engine that does not answer within this time counts as unavailable. */
const ANSWER_WITHIN_MS = 2_000;

export interface RequiredEngines {
  readonly ports: Pick<Ports, 'eventLog' | 'stateStore'>;
  readonly analytics: Analytics | undefined;
  readonly readiness: Readiness;
}

/**
 * Registers the engines that the roles need as readiness conditions. A process with the gateway role needs only the event log:
 * it can accept records while its other roles wait for their engines.
 */
export function requireEngines(roles: readonly Role[], { ports, analytics, readiness }: RequiredEngines): void {
  readiness.while('event log', () => answers(ports.eventLog.ping()));
  if (roles.includes('gateway')) return;
  if (roles.includes('enricher')) readiness.while('state store', () => answers(ports.stateStore.ping()));
  if (analytics !== undefined) readiness.while('analytics store', () => answers(analytics.ping()));
}

async function answers(ping: Promise<void>): Promise<boolean> {
  const answered = new AbortController();
  const late = pause(ANSWER_WITHIN_MS, false, { signal: answered.signal, ref: false }).catch(() => false);
  try {
    return await Promise.race([ping.then(() => true), late]);
  } catch (error) {
    if (isDependencyError(error)) return false;
    throw error;
  } finally {
    answered.abort();
  }
}
