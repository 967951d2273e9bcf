import { getEventListeners } from 'node:events';
import { pauseUnlessAborted } from '../src/abortable.ts';

const HOUR_MS = 3_600_000;

test('each signal ends a pause, and the signals keep no listener', async () => {
  const stops = [new AbortController(), new AbortController()];
  const signals = stops.map(({ signal }) => signal);
  const paused = pauseUnlessAborted(HOUR_MS, ...signals);
  expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual([1, 1]);
  stops[1]?.abort();
  await paused;
  expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual([0, 0]);
});

test('a pause ends by itself, and does not begin if a signal has aborted', async () => {
  const { signal } = new AbortController();
  await pauseUnlessAborted(1, signal);
  await pauseUnlessAborted(HOUR_MS, signal, AbortSignal.abort());
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
