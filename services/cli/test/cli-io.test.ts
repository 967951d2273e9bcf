import { EventEmitter } from 'node:events';
import { interruptionOf } from '@weir/cli/cli-io';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

afterEach(() => jest.useRealTimers());

test.each(SIGNALS)('%s aborts the signal, and arriving twice at once, it does not end the process', (signal) => {
  jest.useFakeTimers();
  const program = new EventEmitter();
  const interrupted = interruptionOf(program);
  expect(interrupted.aborted).toBe(false);
  program.emit(signal);
  expect(interrupted.aborted).toBe(true);
  program.emit(signal);
  // A process that listens to a signal is not ended by it.
  const listened = () => SIGNALS.filter((name) => program.listenerCount(name) > 0);
  expect(listened()).toEqual(SIGNALS);
  jest.advanceTimersByTime(1_000);
  expect(listened()).toEqual([]);
});
