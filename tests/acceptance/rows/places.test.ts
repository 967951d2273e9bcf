import { sendHttp } from '@weir/testkit/http-client';
import { expectEnvelope, expectNoBody } from '../expect-answers.ts';
import { describeOwnProcess, useOwnWeir, useWeir } from '../use-weir.ts';

type Headers = Readonly<Record<string, string>>;
type Client = ReturnType<typeof useWeir>;

const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36';

/** Sends one event for each case, and returns the rows by the name of the case. */
async function rowsOf(weir: Client, cases: Readonly<Record<string, readonly [Headers, object?]>>, columns: string) {
  const site = await weir.createSite();
  for (const [event_name, [headers, fields = {}]] of Object.entries(cases)) {
    const body = { site_id: site, visitor_id: '', session_id: '', type: 'event', event_name, ...fields };
    expectNoBody(await weir.collect(body, { 'user-agent': BROWSER, ...headers }), 204);
  }
  const rows = await weir.rows('events', site, Object.keys(cases).length, `event_name, ${columns}`);
  return Object.fromEntries(rows.map(({ event_name, ...row }) => [String(event_name), row]));
}

describe('the client IP behind any chain of proxies, and its location', () => {
  const weir = useWeir();

  test('Forwarded is used if X-Forwarded-For is not sent; IPv4, IPv4-mapped and IPv6 addresses get a location', async () => {
    const us = { country: 'US', region: 'US-CA', timezone: 'America/Los_Angeles' };
    const german = { country: 'DE', region: expect.stringMatching(/^DE-[A-Z]{2}$/), timezone: 'Europe/Berlin' };
    const cases = {
      list: [{ 'x-forwarded-for': '2a00:1450:4001:81b::200e, 8.8.8.8' }],
      forwarded: [{ forwarded: 'for=1.1.1.1, for="8.8.8.8:4711";proto=https' }],
      both: [{ forwarded: 'for="[2a00:1450:4001:81b::200e]"', 'x-forwarded-for': '8.8.8.8' }],
      mapped: [{ forwarded: 'for="[::ffff:8.8.8.8]"' }],
      v6: [{ forwarded: 'for="[2a00:1450:4001:81b::200e]:443"' }],
      cdn: [{ 'cf-connecting-ip': '2a00:1450:4001:81b::200e', 'x-forwarded-for': '8.8.8.8' }],
      hidden: [{ forwarded: 'for=_hidden' }],
    } as const;
    expect(await rowsOf(weir, cases, 'country, region, timezone')).toEqual({
      list: us,
      forwarded: us,
      both: us,
      mapped: us,
      v6: german,
      cdn: us,
      hidden: { country: '', region: '', timezone: '' },
    });
  });

  test('language and time zone come from the page, or else from the header and the location', async () => {
    const from = { 'x-forwarded-for': '8.8.8.8', 'accept-language': 'fr-FR,fr;q=0.8' };
    const cases = {
      said: [from, { language: 'pt-BR', timezone: 'America/Sao_Paulo' }],
      unsaid: [from],
      wrong: [from, { language: 5, timezone: 'Mars/Base' }],
    } as const;
    const found = { language: 'fr-FR', timezone: 'America/Los_Angeles', country: 'US' };
    expect(await rowsOf(weir, cases, 'language, timezone, country')).toEqual({
      said: { language: 'pt-BR', timezone: 'America/Sao_Paulo', country: 'US' },
      unsaid: found,
      wrong: found,
    });
  });

  test('whoami shows which header gave which address and country', async () => {
    const ask = (headers: Headers, token = weir.adminToken) =>
      sendHttp(weir.urls[0] ?? '', {
        method: 'GET',
        path: '/api/admin/whoami',
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
    const answer = await ask({ 'x-forwarded-for': '1.1.1.1, 8.8.8.8' });
    expect(answer).toMatchObject({
      status: 200,
      json: { data: { address: '8.8.8.8', header: 'x-forwarded-for', country: 'US', connection_trusted: true } },
    });
    expectEnvelope(await ask({}, 'wrong-token-0123456789'), 401);
  });
});

describeOwnProcess('a CDN whose header is named by CLIENT_IP_HEADER', () => {
  const weir = useOwnWeir({ TRUSTED_PROXIES: '127.0.0.1', CLIENT_IP_HEADER: 'CF-Connecting-IP' }).client;

  test('the header is trusted; requests without it use X-Forwarded-For', async () => {
    const cases = {
      cdn: [{ 'cf-connecting-ip': '8.8.8.8', 'x-forwarded-for': '2a00:1450:4001:81b::200e' }],
      around: [{ 'x-forwarded-for': '2a00:1450:4001:81b::200e' }],
      other: [{ 'true-client-ip': '8.8.8.8', forwarded: 'for=8.8.8.8' }],
    } as const;
    expect(await rowsOf(weir, cases, 'country')).toEqual({
      cdn: { country: 'US' },
      around: { country: 'DE' },
      other: { country: '' },
    });
  });
});
