import { bearer } from '@weir/testkit/weir-client';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { FAULTS_ENV } from './exactly-once.ts';

/** Addresses that occur only in the requests of this test. If a search finds one of them, Weir has stored or logged it. */
const ADDRESSES = [
  '203.0.113.77',
  '198.51.100.42',
  '192.0.2.199',
  '2001:db8:dead:beef::77',
  '2001:db8:feed:face::88',
  '100.64.33.44',
];
const EMAIL = 'leaky.person+weir@privacy-example.org';
const EMAIL_MARK = 'leaky.person';
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

let weir: WeirProcess;
const keys: string[] = [];
let site = '';

beforeAll(async () => {
  weir = await startWeir({ env: { ...FAULTS_ENV, TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: 'trace' } });
  site = await weir.client.createSite();
  await sendEverything();
  await weir.client.settled();
});
afterAll(() => weir?.stop());

/**
 * Sends valid and invalid requests to the gateway and to the admin API. They contain addresses, e-mail addresses and keys. The
 * tests then search for these texts.
 */
async function sendEverything(): Promise<void> {
  const { client } = weir;
  const { key } = await client.createKey(site);
  const revoked = await client.createKey(site);
  const limited = await client.createSite();
  await client.must(200, 'PATCH', `/sites/${limited}`, { limits: { events: 1, identify: 1 } });
  const { key: limitedKey } = await client.createKey(limited);
  keys.push(key, revoked.key, limitedKey, 'weir_unknown_key_0123456789abcdef');
  await client.admin('DELETE', `/sites/${site}/keys/${revoked.keyId}`);
  await client.must(201, 'POST', `/sites/${site}/exclusions`, { type: 'ip', value: '100.64.33.44' });
  await client.admin('POST', `/sites/${site}/exclusions`, { type: 'ip', value: '192.0.2.199/99' });
  const identity = { user_id: 'u', email: EMAIL, plan: 'pro' };
  const hit = { site_id: site, visitor_id: '', session_id: '', type: 'pageview', url: 'https://example.com/' };

  for (const ip of ADDRESSES) {
    const from = { 'x-forwarded-for': ip, 'x-real-ip': ip, forwarded: `for="${ip}"`, 'user-agent': BROWSER };
    for (const body of [
      hit,
      { ...hit, visitor_id: 'v', session_id: 's', type: 'event', event_name: 'e' },
      { ...hit, visitor_id: 'v', type: 'identify', identity },
      { ...hit, type: 'identify', identity: { ...identity, image: `javascript:${EMAIL}` } },
      { ...hit, site_id: 'no-such-site' },
      { ...hit, type: EMAIL },
      `{"email":"${EMAIL}","ip":"${ip}"`,
      `{"email":"${EMAIL}","pad":"${'x'.repeat(70_000)}"}`,
    ]) {
      await client.collect(body, from);
    }
    for (const used of [...keys, `${key}x`]) {
      for (const body of [
        { name: 'server', context: { ip, user_agent: BROWSER }, visitor_id: 'v' },
        { name: 'wrong', context: { ip: `${ip}.${EMAIL}` } },
        { name: '', user_id: EMAIL },
        `{"name":"${EMAIL}`,
        `{"pad":"${EMAIL}${'x'.repeat(70_000)}"}`,
      ]) {
        await client.events(used, body, from);
      }
      for (const body of [
        { visitor_id: 'v', ...identity },
        { visitor_id: 'v', ...identity, site_id: 'no-such-site' },
        { visitor_id: 'v', user_id: 'u', email: EMAIL.padEnd(300, 'x') },
        { visitor_id: 'v', ...identity, payment_customer_id: `not valid ${EMAIL}` },
        `{"email":"${EMAIL}"`,
      ]) {
        await client.identify(used, body, from);
      }
    }
    for (const path of ['/api/v1/events', '/api/collect', '/no/such/path', '/api/admin/sites']) {
      const query = `?key=${key}&email=${encodeURIComponent(EMAIL)}&mail=${EMAIL}&ip=${ip}&token=${client.adminToken}`;
      await client.send({
        path: `${path}${query}`,
        headers: { ...from, ...bearer(key), referer: `https://x/?m=${EMAIL}` },
      });
    }
    await client.send({ path: `/${encodeURIComponent(`${EMAIL}-${key}-${ip}`)}`, headers: from });
    await client.admin('POST', '/sql', { query: `SELECT '${EMAIL}', '${ip}', '${key}' FROM nowhere` });
  }
}

describe('LOG_LEVEL: logs never contain IP addresses, e-mail addresses or keys', () => {
  test('no line of the whole output at the level trace contains them', () => {
    const lines = weir.output().split('\n');
    const needles = [...ADDRESSES, EMAIL_MARK, encodeURIComponent(EMAIL), ...keys, weir.client.adminToken];
    const leaks = lines.filter((line) => needles.some((needle) => line.toLowerCase().includes(needle.toLowerCase())));
    expect(leaks).toEqual([]);
    expect(lines.filter((line) => line.includes('203.0.113') || line.includes('dead:beef'))).toEqual([]);
  });
});

describe('the client IP never reaches ClickHouse', () => {
  test('no text column of any table contains an address or a key', async () => {
    const columns = await weir.client.sql(
      `SELECT table, name FROM system.columns WHERE database = currentDatabase()
         AND match(type, 'String|JSON|IPv|Dynamic|Map|Object|Variant') AND NOT startsWith(type, 'AggregateFunction')`,
    );
    expect(columns.length).toBeGreaterThan(60);
    const found: string[] = [];
    for (const { table, name } of columns) {
      const query = `SELECT count() AS n FROM \`${table}\` WHERE multiSearchAnyCaseInsensitive(toString(\`${name}\`), {needles:Array(String)})`;
      const hits = await weir.client.number(query, { needles: [...ADDRESSES, ...keys, 'dead:beef', '203.0.113.'] });
      if (hits !== 0) found.push(`${table}.${name}: ${hits} rows`);
    }
    expect(found).toEqual([]);
  });

  test('the records were stored, so the search covered them', async () => {
    expect(
      await weir.client.number('SELECT count() FROM events WHERE site_id = {site:String}', { site }),
    ).toBeGreaterThan(10);
    const [profile] = await weir.client.rows('profiles', site, 1, 'email');
    expect(profile).toEqual({ email: EMAIL });
  });
});
