import { EVENTS_PER_VISITOR, eventsFrom, pageviewsFrom, visitorOf } from './scale-events.ts';

const EVENTS = 50_000;

test('one of five events is by a new visitor', () => {
  const seen = new Set<number>();
  for (let n = 0; n < EVENTS; n++) {
    const visitor = visitorOf(n);
    if (n % EVENTS_PER_VISITOR === 0) expect(seen.has(visitor)).toBe(false);
    else expect(seen.has(visitor)).toBe(true);
    seen.add(visitor);
  }
  expect(seen.size).toBe(EVENTS / EVENTS_PER_VISITOR);
});

test('visitors of all ages return', () => {
  const returning = Array.from({ length: EVENTS / EVENTS_PER_VISITOR }, (_, nth) => {
    const n = nth * EVENTS_PER_VISITOR + EVENTS_PER_VISITOR - 1;
    return visitorOf(n) / (nth + 1);
  });
  const mean = returning.reduce((sum, one) => sum + one, 0) / returning.length;
  expect(mean).toBeGreaterThan(0.45);
  expect(mean).toBeLessThan(0.55);
});

test('the same number is the same event, and another number is another event', () => {
  expect(eventsFrom(7, 2)).toEqual(eventsFrom(7, 2));
  expect(eventsFrom(7, 1)).not.toEqual(eventsFrom(12, 1));
});

test('a pageview is a complete request', () => {
  const [head = '', body = ''] = pageviewsFrom('demo', 3)(4).toString().split('\r\n\r\n');
  expect(head).toContain(`Content-Length: ${body.length}`);
  expect(JSON.parse(body)).toMatchObject({ site_id: 'demo', type: 'pageview' });
});
