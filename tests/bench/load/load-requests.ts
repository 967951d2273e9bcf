/** Returns the n-th request of a kind, as the complete bytes of an HTTP request. */
export type RequestMaker = (n: number) => Buffer;

export interface RequestKind {
  readonly name: string;
  readonly status: number;
  readonly make: (key: string) => RequestMaker;
}

export const AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36';

const event = (n: number) => ({
  name: 'checkout_completed',
  value: 49.9,
  visitor_id: `v_${n % 5000}`,
  session_id: `s_${n % 5000}`,
  properties: { plan: 'pro', seats: 3, annual: true, coupon: 'SPRING', cart: { items: 2, currency: 'EUR' } },
  context: {
    url: 'https://shop.example.com/checkout/done?utm_source=newsletter',
    referrer: 'https://shop.example.com/checkout',
    ip: '203.0.113.7',
    user_agent: AGENT,
  },
});

const pageview = (n: number, siteId = 'demo') => ({
  site_id: siteId,
  visitor_id: `v_${n % 5000}`,
  session_id: `s_${n % 5000}`,
  type: 'pageview',
  url: 'https://shop.example.com/products/lamp?utm_source=newsletter&utm_medium=email',
  pathname: '/products/lamp',
  hostname: 'shop.example.com',
  referrer: 'https://www.google.com/',
  screen_width: 1920,
  screen_height: 1080,
  utm_source: 'newsletter',
  utm_medium: 'email',
});

export const EVENTS: RequestKind = {
  name: 'events',
  status: 202,
  make: (key) => (n) => post('/api/v1/events', event(n), key),
};

export const EVENTS_WITH_KEY: RequestKind = {
  name: 'events, idempotency_key',
  status: 202,
  make: (key) => {
    const run = `${process.pid}-${performance.now()}`;
    return (n) => post('/api/v1/events', { ...event(n), idempotency_key: `order_${run}_${n}` }, key);
  },
};

export const COLLECT: RequestKind = {
  name: 'collect',
  status: 204,
  make: () => (n) => post('/api/collect', pageview(n), undefined),
};

/** Pageviews of this site. */
export const pageviewsOf =
  (siteId: string): RequestMaker =>
  (n) =>
    post('/api/collect', pageview(n, siteId), undefined);

/** A POST. With a key, it has the headers that a server sends. Without a key, it has those that a browser sends. */
export function post(path: string, body: object, key: string | undefined, agent = AGENT): Buffer {
  const text = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: keep-alive',
    `User-Agent: ${agent}`,
    'Accept: */*',
    ...(key === undefined ? ['Accept-Language: en-GB,en;q=0.9', 'Origin: https://shop.example.com'] : []),
    ...(key === undefined ? ['Content-Type: text/plain'] : ['Content-Type: application/json']),
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`);
}
