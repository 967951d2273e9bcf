import type { EventLog } from '@weir/ports/event-log';
import { type AppendFault, createFaultyEventLog } from '@weir/testkit/faulty-event-log';
import { useOpened } from '@weir/testkit/use-opened';
import { openControlHarness } from './control-harness.ts';

/** Opens a control harness before the tests of a file. Control's appends to the event log end as `appends.fault` says. */
export function useFaultyLog(decorate: (log: EventLog) => EventLog = (log) => log) {
  const appends: { fault: AppendFault } = { fault: 'none' };
  const point = (): void => undefined;
  const faulty = (log: EventLog) => decorate(createFaultyEventLog(log, point, () => appends.fault));
  return { appends, weir: useOpened(() => openControlHarness(faulty)) };
}
