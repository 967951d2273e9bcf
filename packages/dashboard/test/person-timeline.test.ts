import { bundlePages } from './rendered-page.ts';

const event = (event_id: string, timestamp: string, session_id = '') => ({
  ...{ event_id, timestamp, session_id, event_name: event_id, type: 'event', source: 'server' },
  ...{ properties: {}, value: null, bot: '' },
});

test('each heading has a date with the year, and each day of events without a visit has its own heading', async () => {
  const { render } = await bundlePages('people/person-timeline.tsx');
  const visit = {
    session_id: 'v',
    started_at: '2026-03-15T08:58:00Z',
    duration_seconds: 120,
    traffic_source: 'Google',
  };
  const events = [
    event('fourth', '2026-03-15T09:00:00Z', 'v'),
    event('third', '2026-03-15T08:59:00Z', 'v'),
    event('second', '2026-02-01T09:00:00Z'),
    event('first', '2026-02-01T07:00:00Z'),
    event('last year', '2025-02-01T09:00:00Z'),
  ];
  const data = { events, sessions: [visit], has_more: false };
  const { html } = render('PersonTimeline', '/dashboard/sites/s/people', {}, { page: 1, data });
  const groups = html.split('<h3').slice(1);
  expect(groups.map((group) => group.match(/\w+, \w+ \d+, \d{4}/)?.[0])).toEqual([
    ...['Sun, Mar 15, 2026', 'Sun, Feb 1, 2026', 'Sat, Feb 1, 2025'],
  ]);
  expect(groups.map((group) => [...group.matchAll(/event-name"[^>]*>([^<]*)/g)].map((match) => match[1]))).toEqual([
    ['fourth', 'third'],
    ['second', 'first'],
    ['last year'],
  ]);
});
