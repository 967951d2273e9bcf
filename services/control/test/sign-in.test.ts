import { brotliCompressSync } from 'node:zlib';
import { ADMIN_PREFIX } from '@weir/control/admin-routes';
import { ATTEMPTS_PER_NETWORK, SIGNED_OUT_MAX } from '@weir/control/sign-in/sign-in';
import { sendHttp } from '@weir/testkit/http-client';
import { useOpened } from '@weir/testkit/use-opened';
import { createBrowsing, type Headers, OWN_PAGE } from './browse.ts';
import { ADMIN_TOKEN, openControlHarness } from './control-harness.ts';

const weir = useOpened(openControlHarness);
beforeAll(async () => {
  for (const siteId of ['mine', 'other']) {
    await weir.call('POST', '/sites', { name: siteId, domain: 'example.com', site_id: siteId, timezone: 'Asia/Tokyo' });
  }
});
// Moves the clock, so that the limit of sign-in attempts begins again for each test.
beforeEach(() => weir.advance(61_000));

const { browse, signIn, cookieOf, addViewer, dataOf } = createBrowsing(weir);

describe('a session', () => {
  test('begins with a token, says who is signed in, and ends when it is signed out', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    const session = await browse('GET', '/session', cookie);
    expect(dataOf(session)).toEqual({
      ...{ role: 'admin', sites: null, viewer: null, site: null, gateway_url: null },
      expires_at: new Date(Date.parse(String(dataOf(session).expires_at))).toISOString(),
    });
    expect((await browse('GET', '/sites', cookie)).status).toBe(200);
    const out = await browse('DELETE', '/session', cookie);
    expect([out.status, out.headers['set-cookie']?.[0]]).toEqual([
      200,
      'weir_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    ]);
    // A copy of the cookie is refused too.
    expect((await browse('GET', '/sites', cookie)).status).toBe(401);
  });

  test('the cookie cannot be read by scripts, or be sent by other sites; over TLS only this host can set it', async () => {
    const [plain] = (await signIn(ADMIN_TOKEN)).headers['set-cookie'] ?? [];
    expect(plain).toMatch(/^weir_session=[\w.-]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/);
    for (const headers of [{ ...OWN_PAGE, origin: 'https://weir.example' }, { 'x-forwarded-proto': 'https' }]) {
      const [secure] = (await signIn(ADMIN_TOKEN, headers as Headers)).headers['set-cookie'] ?? [];
      expect(secure).toMatch(/^__Host-weir_session=[\w.-]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
      expect((await browse('GET', '/sites', String(secure).split(';')[0] ?? '')).status).toBe(200);
    }
  });

  test('a compressed body is refused before it is decompressed, because the caller has no credentials yet', async () => {
    const packed = brotliCompressSync(Buffer.from(JSON.stringify({ token: ADMIN_TOKEN })));
    const path = `${ADMIN_PREFIX}/session`;
    const answer = await sendHttp(weir.url, { path, headers: { ...OWN_PAGE, 'content-encoding': 'br' }, body: packed });
    expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'identity']);
    const message = 'the body of this call must not be compressed';
    expect(answer.json).toEqual({ status: 'error', error: { code: 415, message } });
  });

  test('a cookie that was set before the sign-in does not become the session', async () => {
    const planted = `weir_session=1.${'A'.repeat(22)}.admin.zzzzzzzz.${'0'.repeat(64)}`;
    const answer = await signIn(ADMIN_TOKEN, { ...OWN_PAGE, cookie: planted });
    expect(answer.headers['set-cookie']?.[0]).not.toContain('A'.repeat(22));
    expect((await browse('GET', '/sites', planted)).status).toBe(401);
    const own = await cookieOf(ADMIN_TOKEN, { ...OWN_PAGE, cookie: await cookieOf(ADMIN_TOKEN) });
    expect(own).not.toBe(await cookieOf(ADMIN_TOKEN, { ...OWN_PAGE, cookie: own }));
  });

  test('a changed cookie is refused', async () => {
    const cookie = await cookieOf((await addViewer()).token);
    const [, id, credential, until, signature = ''] = cookie.split('.');
    const first = signature.startsWith('0') ? '1' : '0';
    for (const changed of [
      `weir_session=1.${id}.admin.${until}.${signature}`,
      `weir_session=1.${id}.${credential}.zzzzzzzzz.${signature}`,
      `weir_session=1.${'B'.repeat(22)}.${credential}.${until}.${signature}`,
      `weir_session=1.${id}.${credential}.${until}.${first}${signature.slice(1)}`,
      `weir_session=1.${id}.${credential}.${until}.`,
      'weir_session=',
      `weir_session=${'x'.repeat(8000)}`,
    ]) {
      expect([changed, (await browse('GET', '/session', changed)).status]).toEqual([changed, 401]);
    }
    expect((await browse('GET', '/session', cookie)).status).toBe(200);
  });

  test('ends after 30 days', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    weir.advance(30 * 86_400_000 - 60_000);
    expect((await browse('GET', '/session', cookie)).status).toBe(200);
    weir.advance(61_000);
    expect((await browse('GET', '/session', cookie)).status).toBe(401);
  });

  test('signing out everywhere ends the sessions of everybody, also those of before a restart', async () => {
    const cookies = [
      await cookieOf(ADMIN_TOKEN),
      await cookieOf(ADMIN_TOKEN),
      await cookieOf((await addViewer()).token),
    ];
    weir.forgetControl();
    expect((await browse('GET', '/session', cookies[0] ?? '')).status).toBe(200);
    await browse('DELETE', '/session', cookies[1] ?? '');
    expect((await browse('DELETE', '/sessions', cookies[0] ?? '')).status).toBe(200);
    for (const cookie of cookies) expect((await browse('GET', '/session', cookie)).status).toBe(401);
    expect((await browse('GET', '/sites', await cookieOf(ADMIN_TOKEN))).status).toBe(200);
    expect(weir.registry.signedOut().size).toBe(0);
  });

  test('signing in and out in a loop does not fill the registry, and each session ends', async () => {
    const { token, viewer_id: viewerId } = await addViewer();
    const older = await cookieOf(token);
    const ofOther = await cookieOf((await addViewer()).token);
    const expiresAt = weir.clock() + 86_400_000;
    const sessionIds = Array.from({ length: SIGNED_OUT_MAX }, (_, nth) => String(nth).padStart(22, '0'));
    await Promise.all(sessionIds.map((sessionId) => weir.registry.putSignedOut({ sessionId, expiresAt })));
    const stored = weir.registry.signedOut().size;
    for (let n = 0; n < 3; n++) {
      const cookie = await cookieOf(token);
      expect((await browse('DELETE', '/session', cookie)).status).toBe(200);
      expect((await browse('GET', '/session', cookie)).status).toBe(401);
    }
    expect([...weir.registry.signedOut().keys()].slice(stored)).toEqual([viewerId]);
    // The registry has one entry for this viewer instead of one entry for each session. The entry also ends older sessions of this viewer. Later
    // sessions, and those of other viewers, stay valid.
    const statuses = [older, await cookieOf(token), ofOther].map(async (cookie) => {
      return (await browse('GET', '/session', cookie)).status;
    });
    expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
    await Promise.all(sessionIds.map((sessionId) => weir.registry.removeSignedOut(sessionId)));
  });

  test('ends when the admin token changes', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    weir.setAdminToken('another-admin-token-0123456789');
    expect((await browse('GET', '/sites', cookie)).status).toBe(401);
    weir.setAdminToken(ADMIN_TOKEN);
    expect((await browse('GET', '/sites', cookie)).status).toBe(200);
  });

  test('a token in the header counts, whatever the cookie says', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    const answer = await browse('GET', '/sites', cookie, { ...OWN_PAGE, authorization: 'Bearer wrong' });
    expect(answer.status).toBe(401);
  });

  test('stays valid if the browser also sends a password for a proxy before Weir', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    const password = { authorization: `Basic ${Buffer.from('ada:secret').toString('base64')}` };
    expect((await browse('GET', '/sites', cookie, { ...OWN_PAGE, ...password })).status).toBe(200);
    const foreign = { origin: 'https://evil.example', ...password };
    expect((await browse('GET', '/sites', cookie, foreign)).status).toBe(403);
    expect((await browse('GET', '/sites', '', { ...OWN_PAGE, ...password })).status).toBe(401);
  });
});

describe('a page of another origin', () => {
  const host = (): string => new URL(weir.url).host;
  const own = (): readonly Headers[] => [
    OWN_PAGE,
    { origin: weir.url },
    { origin: 'http://weir.example', 'x-forwarded-host': 'weir.example' },
  ];
  const foreign = (): readonly Headers[] => [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: weir.url },
    { origin: 'https://evil.example' },
    { origin: `http://${host()}.evil.example` },
    { origin: `http://127.0.0.1:1` },
    { origin: 'null' },
    {},
  ];

  test('cannot change anything with the cookie of a person', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    for (const headers of foreign()) {
      for (const [method, path] of [
        ['POST', '/sites'],
        ['PATCH', '/sites/mine'],
        ['DELETE', '/sites/mine'],
        ['DELETE', '/sessions'],
      ] as const) {
        const { status } = await browse(method, path, cookie, headers);
        expect([headers, method, status]).toEqual([headers, method, 403]);
      }
    }
    for (const headers of own()) expect((await browse('PATCH', '/sites/mine', cookie, headers)).status).toBe(200);
    expect(weir.registry.site('mine')).toBeDefined();
  });

  test('cannot read anything either, and cannot sign a person in', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    for (const headers of foreign().slice(0, 2)) {
      expect((await browse('GET', '/sites', cookie, headers)).status).toBe(403);
    }
    expect((await browse('GET', '/sites', cookie, { 'sec-fetch-site': 'none' })).status).toBe(200);
    for (const headers of foreign().slice(0, -1)) {
      const { status, headers: answered } = await signIn(ADMIN_TOKEN, headers);
      expect([headers, status, answered['set-cookie']]).toEqual([headers, 403, undefined]);
    }
    // A program that is not a browser sends neither `Origin` nor `Sec-Fetch-Site`.
    expect((await signIn(ADMIN_TOKEN, {})).status).toBe(200);
  });
});

describe('attempts to sign in', () => {
  test.each(['', 'wrong', 7, null, 'x'.repeat(257)])('%p is refused, without a cookie', async (token) => {
    const { status, headers } = await signIn(token);
    expect([400, 401]).toContain(status);
    expect(headers['set-cookie']).toBeUndefined();
  });

  test('are limited for each network, also with the right token, and only there', async () => {
    const from = (address: string): Headers => ({ ...OWN_PAGE, 'x-forwarded-for': address });
    for (let n = 0; n < ATTEMPTS_PER_NETWORK; n++)
      expect((await signIn('wrong', from('198.51.100.7'))).status).toBe(401);
    const limited = await signIn(ADMIN_TOKEN, from('198.51.100.7'));
    expect([limited.status, Number(limited.headers['retry-after'])]).toEqual([429, expect.any(Number)]);
    expect((await signIn(ADMIN_TOKEN, from('203.0.113.1'))).status).toBe(200);
    expect((await weir.call('GET', '/sites', undefined, ADMIN_TOKEN)).status).toBe(200);
    weir.advance(61_000);
    expect((await signIn(ADMIN_TOKEN, from('198.51.100.7'))).status).toBe(200);
  });

  test('are limited overall', async () => {
    const statuses = new Set<number>();
    for (let n = 0; n < 610; n++) {
      statuses.add((await signIn('wrong', { 'x-forwarded-for': `203.0.${n % 250}.${Math.floor(n / 250)}` })).status);
    }
    expect([...statuses].sort()).toEqual([401, 429]);
  });
});
