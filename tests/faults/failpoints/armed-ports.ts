import { createFaultyEventLog } from '@weir/testkit/faulty-event-log';
import { createFaultyStateStore } from '@weir/testkit/faulty-state-store';
import { type OpenPortsDeps, openPorts as open, type Ports } from '../../../services/host/src/ports/open-ports.ts';
import { armedOutcome, armedPoint } from './armed-fault.ts';

/** Replaces `openPorts` of the host. Opens the same engines, and adds points at which a test can make a fault happen. */
export async function openPorts(deps: OpenPortsDeps): Promise<Ports> {
  const ports = await open(deps);
  return {
    ...ports,
    eventLog: createFaultyEventLog(ports.eventLog, armedPoint, armedOutcome),
    stateStore: createFaultyStateStore(ports.stateStore, armedPoint),
  };
}
