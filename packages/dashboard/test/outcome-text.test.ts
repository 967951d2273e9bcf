import { bundlePages } from './rendered-page.ts';

test('outcomes have a label, and the name that SQL uses as a title; numbers are written in the language of the reader', async () => {
  const { render } = await bundlePages('pipeline/books-card.tsx', 'realtime/realtime-page.tsx');
  const outcomes = { row: 1_234, dead: 2, later: 3 };
  const minutes = [{ minute: '2026-01-01T00:00:00Z', received: 1_239, balanced: true, outcomes }];
  const totals = {
    received: 0,
    stored: 0,
    identify: 0,
    duplicate: 0,
    redriven: 0,
    erased: 0,
    expired: 0,
    in_flight: 0,
  };
  const audit = { balanced: true, totals: { ...totals, dropped: { excluded_ip: 12_345 }, dead: {} } };
  const answers = { audit, listMinuteBooks: { balanced: true, minutes } };
  const { html } = render('BooksCard', '/dashboard/pipeline', answers, {});
  expect(html).toContain('<span title="row">Stored 1,234</span>');
  expect(html).toContain('<span title="dead">, Dead letter 2</span>');
  // A newer Weir can have more outcomes.
  expect(html).toContain('<span title="later">, later 3</span>');
  expect(html).toContain('excluded_ip 12,345');
  const none = { visitors: 0, pageviews: 0 };
  const lists = {
    minutes: [{ start: '2026-01-01T00:00:00Z', visitors: 1_234 }],
    pages: [],
    sources: [],
    countries: [],
  };
  const realtime = { ...lists, last_5_minutes: none, last_30_minutes: none };
  expect(render('RealtimePage', '/dashboard/sites/s/realtime', { realtime }, {}).html).toContain(': 1,234"');
});
