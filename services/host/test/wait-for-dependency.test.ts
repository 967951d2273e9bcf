import { getEventListeners } from 'node:events';
import { DependencyError } from '@weir/domain/errors';
import { waitForDependency } from '../src/startup/wait-for-dependency.ts';

const away = () => Promise.reject(new DependencyError('event_log_unavailable', 'connection refused'));

/** The options of a wait. They record the log messages, and how often the startup server was opened and closed. */
function createWaiting() {
  const lines: unknown[] = [];
  const stop = new AbortController();
  let opened = 0;
  let closed = 0;
  const whileWaiting = async () => {
    opened += 1;
    return {
      async close() {
        closed += 1;
      },
    };
  };
  const waiting = {
    engine: 'Kafka',
    unavailableCode: 'event_log_unavailable',
    whileWaiting,
    logger: { warn: (line: unknown) => void lines.push(line) },
    stop: stop.signal,
  } as const;
  return { waiting, lines, stop, answered: () => ({ opened, closed }) };
}

describe('a start waits for an engine that is unavailable', () => {
  test('the wait ends when the engine is available; meanwhile it logs one warning and runs a startup server', async () => {
    const { waiting, lines, answered, stop } = createWaiting();
    let left = 3;
    const open = () => (left-- > 0 ? away() : Promise.resolve('there'));
    expect(await waitForDependency(open, waiting)).toBe('there');
    expect(lines).toEqual([
      expect.objectContaining({ engine: 'Kafka', code: 'event_log_unavailable', reason: 'connection refused' }),
    ]);
    expect(answered()).toEqual({ opened: 1, closed: 1 });
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  test('the start fails at once if the error is not about availability', async () => {
    const { waiting, lines, answered } = createWaiting();
    for (const code of ['event_log_refused', 'event_log_damaged'] as const) {
      const refused = new DependencyError(code, 'no');
      await expect(waitForDependency(() => Promise.reject(refused), waiting)).rejects.toBe(refused);
    }
    expect(lines).toEqual([]);
    expect(answered()).toEqual({ opened: 0, closed: 0 });
  });

  test('the wait ends when it is stopped, even if opening the engine never settles', async () => {
    for (const open of [away, () => new Promise<never>(() => undefined)]) {
      const { waiting, answered, stop } = createWaiting();
      const ended = waitForDependency(open, waiting);
      setImmediate(() => stop.abort());
      await expect(ended).rejects.toThrow(/abort/);
      const { opened, closed } = answered();
      expect(closed).toBe(opened);
    }
  });
});
