import type { WeirClient } from '@weir/testkit/weir-client';
import { generatedLines, importText, SPRING, sendEvents } from '../reports/stats-traffic.ts';

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36';

/** Sends records of many kinds: visits, server events, people, an unlink, payments, a dropped hit and a cookieless hit. */
export async function makeExportTraffic(client: WeirClient, site: string): Promise<void> {
  const { key } = await client.createKey(site);
  await importText(client, site, generatedLines([SPRING], 150));
  await sendEvents(client, site);
  await sendPeople(client, site, key);
  await sendPayments(client, site, key);

  await client.must(201, 'POST', `/sites/${site}/exclusions`, { type: 'path', value: '/secret*' });
  for (const url of ['https://example.com/secret/1', 'https://example.com/open', 'https://example.com/=cmd']) {
    await collect(client, { site_id: site, visitor_id: 'v-excluded', session_id: 's-excluded', type: 'pageview', url });
  }
  await collect(client, {
    site_id: site,
    visitor_id: '',
    session_id: '',
    type: 'pageview',
    url: 'https://example.com/x',
  });
  await client.settled();
}

async function collect(client: WeirClient, hit: object): Promise<void> {
  const { status } = await client.collect(hit, {
    'user-agent': CHROME,
    'accept-language': 'de-AT',
    'x-forwarded-for': '8.8.8.8',
  });
  if (status !== 204) throw new Error(`the hit was answered ${status}`);
}

async function send(client: WeirClient, key: string, event: object, status = 202): Promise<void> {
  const answer = await client.events(key, event);
  if (answer.status !== status) throw new Error(`the event was answered ${answer.status} ${answer.text}`);
}

async function sendPeople(client: WeirClient, site: string, key: string): Promise<void> {
  for (const n of [1, 2, 3]) {
    const url = `https://example.com/p${n}?utm_source=news&gclid=1`;
    await collect(client, {
      site_id: site,
      visitor_id: `v${n}`,
      session_id: `s${n}`,
      type: 'pageview',
      url,
      screen_width: 800,
    });
  }
  const identities = [
    { visitor_id: 'v1', user_id: 'u1', email: 'one@example.com', name: 'One "1"', plan: 'pro', seats: 3, old: null },
    { visitor_id: 'v1', user_id: 'u2', email: 'two@example.com', payment_customer_id: 'cus_2' },
    { visitor_id: 'v2', user_id: 'ü3', image: 'https://example.com/3.png', big: 9007199254740991 },
    { visitor_id: 'v3', user_id: 'u1', plan: 'free' },
  ];
  for (const identity of identities) await client.identify(key, identity);
  const identity = { user_id: 'u1', name: 'From a browser', colour: 'blue' };
  await collect(client, { site_id: site, visitor_id: 'v2', session_id: 's2', type: 'identify', identity });
  await client.settled();
  await client.must(200, 'POST', `/sites/${site}/unlink`, { visitor_id: 'v3', user_id: 'u1' });

  await send(client, key, { name: 'signup', user_id: 'ü3', idempotency_key: 'k1' });
  await send(client, key, { name: 'signup', user_id: 'ü3', idempotency_key: 'k1' }, 200);
  // The properties are JSON text, because JavaScript would round the long number. The second event below sends this text unchanged.
  const properties =
    '{"plan":"pro","big":9007199254740993,"float":0.1,"a":{"b":[1,"x",null,true,{"c":1.5}]},"x.y":"dot","list":[1,2],' +
    '"date":"2026-01-01","empty":{},"quote":"\\"\\\\\\n\\u2028","minus":-5,"huge":1e300,"none":null}';
  await send(client, key, {
    name: '=formula',
    properties: JSON.parse(properties) as object,
    timestamp: '2026-04-01T10:00:00Z',
  });
  const answer = await client.send({
    path: '/api/v1/events',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: `{"name":"exact","value":12345678901234567890.5,"properties":${properties}}`,
  });
  if (answer.status !== 202) throw new Error(`the event was answered ${answer.status} ${answer.text}`);
}

async function sendPayments(client: WeirClient, site: string, key: string): Promise<void> {
  const payments = [
    { value: '49.90', visitor_id: 'v1', session_id: 's1', properties: { currency: 'eur' } },
    { value: 12.5, user_id: 'ü3', properties: { currency: 'USD' } },
    { value: '-3.000000000000000001', properties: { currency: 'EUR', payment_customer_id: 'cus_2' } },
    { value: 'much', properties: { currency: 'EUR' } },
    { value: '7', visitor_id: 'v2', properties: { currency: 'EUR' }, timestamp: '2025-12-31T23:59:59.999Z' },
  ];
  for (const payment of payments) await send(client, key, { name: 'payment', ...payment });
  await collect(client, {
    site_id: site,
    visitor_id: 'v2',
    session_id: 's2b',
    type: 'event',
    event_name: 'click',
    event_value: 2,
  });
}
