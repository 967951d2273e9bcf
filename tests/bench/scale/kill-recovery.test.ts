import { lostBatches } from './kill-recovery.ts';
import { BATCH_EVENTS } from './scale-events.ts';

const acknowledged = { path: '/a', isAcknowledged: true };
const unanswered = { path: '/b', isAcknowledged: false };

test('a batch is lost if one of its acknowledged events is missing', () => {
  expect(lostBatches([acknowledged, unanswered], new Map([['/a', BATCH_EVENTS]]))).toEqual([]);
  expect(lostBatches([acknowledged, unanswered], new Map([['/a', BATCH_EVENTS - 1]]))).toEqual([acknowledged]);
  expect(lostBatches([acknowledged], new Map())).toEqual([acknowledged]);
});

test('events that are stored twice are an error, also if they were not acknowledged', () => {
  expect(() => lostBatches([unanswered], new Map([['/b', BATCH_EVENTS + 1]]))).toThrow('more rows than events');
});
