import { createFaultyAnalytics } from '@weir/testkit/faulty-analytics';
import { createFaultyEventLog } from '@weir/testkit/faulty-event-log';
import { createFaultyStateStore } from '@weir/testkit/faulty-state-store';
import {
  type OpenThreadPortsDeps,
  openThreadPorts as open,
  type ThreadPorts,
} from '../../../services/host/src/ports/open-thread-ports.ts';
import { armedOutcome, armedPoint } from './armed-fault.ts';

export { openLogOfThread } from '../../../services/host/src/ports/open-thread-ports.ts';

/** Replaces `openThreadPorts` of the pipeline thread. Opens the same engines, and adds points at which a test can make a fault happen. */
export async function openThreadPorts(deps: OpenThreadPortsDeps): Promise<ThreadPorts> {
  const ports = await open(deps);
  const { tables } = ports;
  return {
    ...ports,
    eventLog: createFaultyEventLog(ports.eventLog, armedPoint, armedOutcome),
    stateStore: createFaultyStateStore(ports.stateStore, armedPoint),
    tables: tables && {
      ...tables,
      analytics: { ...tables.analytics, ...createFaultyAnalytics(tables.analytics, armedPoint) },
    },
  };
}
