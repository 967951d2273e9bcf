import { importEventIds } from '@weir/domain/access-log/import-event-ids';
import { useOpened } from '@weir/testkit/use-opened';
import { accessLogHits } from './access-log-traffic.ts';
import { type Line, NOW, openEnrichHarness, parseLine, rawBytes, SITE } from './enrich-harness.ts';

const harness = useOpened(openEnrichHarness);

test('a real access log: each line becomes one row with the facts of the line, and no row has an address', async () => {
  const hits = accessLogHits('semicomplete.com');
  const eventId = importEventIds(SITE, 'f'.repeat(64));
  const raw = hits.map((hit, i) =>
    rawBytes({
      kind: 'import',
      eventId: eventId(i),
      receivedAt: NOW,
      ip: hit.ip,
      userAgent: hit.userAgent,
      body: { url: hit.url, referrer: hit.referrer, timestamp: hit.timestamp },
    }),
  );
  const texts = await harness.lines(raw);
  expect(texts).toHaveLength(hits.length);
  texts.forEach((text, i) => {
    const { ip, url, referrer, userAgent } = hits[i] ?? { ip: '', url: '', referrer: '', userAgent: '' };
    if (!`${url}${referrer}${userAgent}`.includes(ip)) expect(text.includes(`"${ip}"`)).toBe(false);
  });

  const rows: readonly Line[] = texts.map(parseLine);
  const share = (holds: (row: Line) => boolean): number => rows.filter(holds).length / rows.length;
  expect(share((row) => row.outcome === 'row')).toBe(1);
  expect(share((row) => row.country !== '')).toBeGreaterThan(0.95);
  expect(share((row) => row.bot !== '')).toBeGreaterThan(0.1);
  expect(share((row) => row.bot === '' && row.browser !== '')).toBeGreaterThan(0.3);
  expect(share((row) => row.channel === 'Organic Search')).toBeGreaterThan(0.05);
  expect(share((row) => row.session_id !== '' && row.visitor_id !== '')).toBe(1);
  expect(new Set(rows.map((row) => row.session_id)).size).toBeGreaterThanOrEqual(
    new Set(rows.map((row) => row.visitor_id)).size,
  );
});
