import type { WeirClient } from '@weir/testkit/weir-client';
import type { WeirProcess } from '@weir/testkit/weir-process';

/** An address that no record may contain in plain text. */
export const CLIENT_ADDRESS = '203.0.113.77';

/**
 * Sends requests that make raw records of the kinds collect, event, identify, import and unlink, with the outcomes row, identify and
 * dropped. Resolves with the site when all outcomes are stored.
 */
export async function sendSomeTraffic({ client }: WeirProcess): Promise<string> {
  const { site: siteId, key } = await client.createSiteWithKey();
  await client.must(201, 'POST', `/sites/${siteId}/identity-secret`);
  await client.must(201, 'POST', `/sites/${siteId}/exclusions`, { type: 'path', value: '/internal' });
  await client.must(201, 'POST', `/sites/${siteId}/exclusions`, { type: 'ip', value: '198.51.100.9' });
  const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' };
  const hit = { site_id: siteId, visitor_id: 'v1', session_id: 's1', type: 'pageview', url: 'https://example.com/ä' };
  await client.collect(hit, { ...browser, 'sec-ch-ua-platform': '"Linux"', 'accept-language': 'de-DE,de' });
  await client.collect({ ...hit, visitor_id: '', session_id: '' }, browser);
  await client.collect({ ...hit, url: 'https://example.com/internal' }, browser);
  await client.collect({ ...hit, type: 'identify', identity: { user_id: 'ada', email: 'ada@example.com' } }, browser);
  const event = {
    name: 'purchase',
    user_id: 'ada',
    value: '12.50',
    properties: { plan: 'pro', items: [{ id: 7 }], nested: { deep: { quote: '"\n\\' } } },
    context: { ip: CLIENT_ADDRESS, user_agent: browser['user-agent'] },
    idempotency_key: 'order-1',
  };
  await client.events(key, event, { 'idempotency-key': 'order-1' });
  await client.events(key, event);
  await client.events(key, { name: 'number', visitor_id: 'v1', value: 49.5, idempotency_key: 'order-2' });
  const identified = await client.identify(key, { visitor_id: 'v2', user_id: 'bob', plan: 'free' });
  if (identified.status !== 200) throw new Error(`POST /api/identify answered ${identified.status} ${identified.text}`);
  await importOneLine(client, siteId);
  await client.settled();
  await client.must(200, 'POST', `/sites/${siteId}/unlink`, { visitor_id: 'v2', user_id: 'bob' });
  await client.settled();
  return siteId;
}

async function importOneLine(client: WeirClient, siteId: string): Promise<void> {
  const digest = 'd'.repeat(64);
  const path = `/sites/${siteId}/imports`;
  const { lease } = (await client.must(200, 'POST', path, { file_digest: digest })) as { lease: string };
  const hit = { ip: CLIENT_ADDRESS, user_agent: 'curl/8', url: 'https://example.com/imported', referrer: '' };
  const hits = [{ line: 1, timestamp: Date.now(), ...hit }];
  await client.must(200, 'POST', `${path}/${digest}/chunks`, { lease, first_line: 1, last_line: 1, hits });
  await client.must(200, 'POST', `${path}/${digest}/finish`, { lease, lines: 1 });
}
