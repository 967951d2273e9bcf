import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { ADMIN_TOKEN, openControlHarness } from './control-harness.ts';

const weir = useOpened(openControlHarness);

const error = (code: number, message: unknown = expect.any(String)) => ({ status: 'error', error: { code, message } });

async function addSite(siteId: string): Promise<void> {
  const reply = await weir.call('POST', '/sites', { name: 'N', domain: 'example.com', site_id: siteId });
  expect(reply.status).toBe(201);
}

describe('sign-in', () => {
  test('a missing or wrong token gets 401 in the response envelope', async () => {
    for (const token of ['', 'wrong']) {
      const reply = await weir.call('GET', '/sites', undefined, token);
      expect([reply.status, reply.body]).toEqual([401, error(401)]);
    }
    expect((await fetch(`${weir.url}/api/admin/nowhere`)).status).toBe(401);
  });
  test('the scheme Bearer can have any case, and other origins cannot read the answer', async () => {
    const headers = { authorization: 'bEaReR test-admin-token-0123456789', origin: 'https://evil.example' };
    const response = await fetch(`${weir.url}/api/admin/sites`, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(response.headers.get('set-cookie')).toBeNull();
  });
});

describe('sites', () => {
  test('POST gives 201 and the site; a missing site_id is generated', async () => {
    const { status, body } = await weir.call('POST', '/sites', { name: 'Shop', domain: 'Shop.Example' });
    expect(status).toBe(201);
    expect(body).toEqual({
      status: 'success',
      data: {
        site_id: expect.stringMatching(/^site_[a-z2-9]{12}$/),
        name: 'Shop',
        domain: 'shop.example',
        timezone: 'UTC',
        limits: {},
        keep: { events: null, profiles: null, rollups: null },
        kept: { events: 'forever', profiles: 'forever', rollups: 'forever' },
        query_allow: null,
        identity_verification: { required: false, secret_created_at: null },
        created_at: expect.stringMatching(/Z$/),
      },
    });
    expect((await weir.call('GET', `/sites/${body.data.site_id}`)).body.data).toEqual(body.data);
    expect((await weir.call('GET', '/sites')).body.data).toContainEqual(body.data);
  });
  test('of concurrent calls with one site_id exactly one gets 201, the others 409', async () => {
    const body = { name: 'A', domain: 'a.example', site_id: 'taken' };
    const replies = await Promise.all(Array.from({ length: 8 }, () => weir.call('POST', '/sites', body)));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect(replies.find(({ status }) => status === 409)?.body).toEqual(error(409, 'site_id taken is taken'));
  });
  test.each([
    [{ domain: 'a.example' }, 'name is required'],
    [{ name: 'A' }, 'domain is required'],
    [
      { name: 'A', domain: 'http://a.example/' },
      'domain must be a host name such as example.com, without https:// and without a path',
    ],
    [
      { name: 'A', domain: 'a.example', keep: { events: '3 weeks' } },
      'keep.events must be a number of days or years, such as 400d or 2y, or forever',
    ],
    [{ name: 'A', domain: 'a.example', site_id: 'a b' }, 'site_id must match ^[A-Za-z0-9_-]{1,64}$'],
    [{ name: 'A', domain: 'a.example', timezone: 'Mars/Base' }, expect.stringMatching(/^timezone must be/)],
    [{ name: 'A', domain: 'a.example', timezone: 'IST' }, expect.stringMatching(/^timezone must be/)],
    [{ name: 'A', domain: 'a.example', limits: { collect: 0 } }, expect.stringMatching(/^limits.collect must be/)],
    [{ name: 7, domain: 'a.example' }, 'name must be string'],
    ['[]', expect.any(String)],
    ['{', expect.any(String)],
  ])('400 names field and rule: %j', async (body, message) => {
    const reply = await weir.call('POST', '/sites', body);
    expect([reply.status, reply.body]).toEqual([400, error(400, message)]);
  });
  test('PATCH changes name, domain, timezone and limits; null restores the default', async () => {
    await addSite('patched');
    const change = { name: 'B', domain: 'b.example', timezone: 'Europe/Berlin', limits: { collect: 10, events: 20 } };
    expect((await weir.call('PATCH', '/sites/patched', change)).body.data).toMatchObject(change);
    const { body } = await weir.call('PATCH', '/sites/patched', { limits: { collect: null } });
    expect(body.data).toMatchObject({ name: 'B', limits: { events: 20 } });
    expect(body.data.limits).not.toHaveProperty('collect');
    expect((await weir.call('PATCH', '/sites/removed', change)).status).toBe(404);
  });
  test('time zones get the letter case of the IANA data', async () => {
    const made = await weir.call('POST', '/sites', {
      name: 'A',
      domain: 'a.example',
      site_id: 'cased',
      timezone: 'Europe/KYiv',
    });
    expect(made.body.data.timezone).toBe('Europe/Kyiv');
    const changed = await weir.call('PATCH', '/sites/cased', { timezone: 'asia/ho_chi_minh' });
    expect(changed.body.data.timezone).toBe('Asia/Ho_Chi_Minh');
    const { body } = await weir.call('GET', '/sites/cased/stats?timezone=us/pacific');
    expect(body.data.timezone).toBe('US/Pacific');
  });
  test('a site with a zone that reports cannot use has reports in UTC, and its other fields can be changed', async () => {
    await addSite('zoned');
    const site = weir.registry.site('zoned');
    if (site === undefined) throw new Error('the registry does not have the site');
    await weir.registry.putSite({ ...site, timezone: 'IST' });
    expect((await weir.call('PATCH', '/sites/zoned', { name: 'Z' })).body.data).toMatchObject({ name: 'Z' });
    expect((await weir.call('PATCH', '/sites/zoned', { timezone: 'PST' })).status).toBe(400);
    expect((await weir.call('GET', '/sites/zoned/stats')).body.data).toMatchObject({ timezone: 'UTC' });
    expect((await weir.call('GET', '/stats')).status).toBe(200);
  });
  test('DELETE removes a site', async () => {
    await addSite('removed');
    expect((await weir.call('DELETE', '/sites/removed')).status).toBe(200);
    expect((await weir.call('GET', '/sites/removed')).body).toEqual(error(404, 'site not found'));
    expect((await weir.call('DELETE', '/sites/none')).status).toBe(404);
  });
  test('405 with Allow, 404 for an unknown path, 413 for a body over the limit', async () => {
    const reply = await weir.call('PUT', '/sites', {});
    expect([reply.status, reply.headers.get('allow'), reply.body]).toEqual([405, 'GET, POST, HEAD', error(405)]);
    expect((await weir.call('GET', '/nowhere')).body).toEqual(error(404, 'no such path'));
    expect((await weir.call('POST', '/sites', { name: 'x'.repeat(1_100_000) })).body).toEqual(error(413));
  });
});

describe('malformed requests', () => {
  test('invalid UTF-8 and a path with an invalid escape get 400', async () => {
    const ask = async (path: string, body?: Uint8Array<ArrayBuffer>) => {
      const reply = await fetch(`${weir.url}/api/admin${path}`, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        ...(body === undefined ? {} : { method: 'POST', body }),
      });
      return [reply.status, ((await reply.json()) as { error: { message: string } }).error.message];
    };
    const name = Buffer.concat([Buffer.from('{"domain":"a.example","name":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(await ask('/sites', new Uint8Array(name))).toEqual([400, expect.stringMatching(/UTF-8/)]);
    expect(await ask('/sites/%zz')).toEqual([400, 'the path is malformed']);
  });

  test('a name of white space counts as missing', async () => {
    const { status, body } = await weir.call('POST', '/sites', { name: ' ', domain: 'a.example' });
    expect([status, body.error.message]).toEqual([400, 'name is required']);
  });
});

describe('keys', () => {
  test('the key is shown once, and authenticates', async () => {
    await addSite('keyed');
    const made = await weir.call('POST', '/sites/keyed/keys', { name: 'k', scopes: ['events:write'] });
    expect(made.status).toBe(201);
    expect(made.body.data).toMatchObject({
      site_id: 'keyed',
      name: 'k',
      scopes: ['events:write'],
      legacy_identify: false,
    });
    const listed = await weir.call('GET', '/sites/keyed/keys');
    expect(listed.body.data).toHaveLength(1);
    expect(JSON.stringify(listed.body)).not.toContain(made.body.data.key);
    expect(listed.body.data[0]).not.toHaveProperty('hash');
    expect((await weir.call('DELETE', `/sites/keyed/keys/${made.body.data.key_id}`)).status).toBe(200);
    expect((await weir.call('GET', '/sites/keyed/keys')).body.data).toEqual([]);
    expect((await weir.call('DELETE', `/sites/keyed/keys/${made.body.data.key_id}`)).status).toBe(404);
  });
  test('a legacy identify key authenticates', async () => {
    await addSite('legacy');
    const { body } = await weir.call('POST', '/sites/legacy/keys', { name: 'k', legacy_identify: true });
    expect(body.data).toMatchObject({ scopes: ['identify:write'], legacy_identify: true });
  });
  test.each([{ name: 'k' }, { name: 'k', scopes: [] }, { name: 'k', scopes: ['all'] }, { scopes: ['events:write'] }])(
    '400: %j',
    async (body) => {
      expect((await weir.call('POST', '/sites/legacy/keys', body)).status).toBe(400);
    },
  );
  test('404 if the site does not exist', async () => {
    expect((await weir.call('GET', '/sites/none/keys')).status).toBe(404);
    expect((await weir.call('POST', '/sites/none/keys', { name: 'k', scopes: ['events:write'] })).status).toBe(404);
  });
});

describe('exclusion rules', () => {
  beforeAll(() => addSite('ruled'));
  test.each([
    ['ip', '192.0.2.1'],
    ['ip', '2001:db8::/32'],
    ['path', '/admin/*'],
    ['hostname', 'staging.example.com'],
    ['country', 'DE'],
    ['user_agent', 'HeadlessChrome'],
    ['visitor', 'v1'],
    ['bots', undefined],
  ])('%s %s', async (type, value) => {
    const made = await weir.call('POST', '/sites/ruled/exclusions', { type, value });
    expect(made.status).toBe(201);
    expect(made.body.data).toMatchObject({ type, value: value ?? '' });
    expect((await weir.call('POST', '/sites/ruled/exclusions', { type, value })).status).toBe(409);
    expect((await weir.call('DELETE', `/sites/ruled/exclusions/${made.body.data.rule_id}`)).status).toBe(200);
    expect((await weir.call('GET', '/sites/ruled/exclusions')).body.data).toEqual([]);
  });
  test.each([
    ['ip', '192.0.2.300'],
    ['ip', '192.0.2.0/33'],
    ['path', 'admin'],
    ['hostname', 'a b'],
    ['country', 'Germany'],
    ['country', 'UK'],
    ['country', 'ZZ'],
    ['user_agent', ''],
    ['visitor', 'v'.repeat(65)],
    ['bots', 'no'],
    ['moon', 'x'],
  ])('400: %s %s', async (type, value) => {
    expect((await weir.call('POST', '/sites/ruled/exclusions', { type, value })).status).toBe(400);
  });
});

describe('sql', () => {
  test('a query with params gives columns and rows', async () => {
    const { body } = await weir.call('POST', '/sql', {
      query: 'SELECT {n:UInt32} AS n, {t:String} AS t',
      params: { n: 7, t: "o'x" },
    });
    expect(body.data).toEqual({
      columns: [
        { name: 'n', type: 'UInt32' },
        { name: 't', type: 'String' },
      ],
      rows: [{ n: 7, t: "o'x" }],
    });
  });
  test.each([
    'DROP TABLE records',
    'SELECT nothing',
    'SELECT 1 SETTINGS max_threads = 1',
    "SELECT * FROM file('/etc/passwd')",
    '',
  ])('400: %s', async (query) => {
    const reply = await weir.call('POST', '/sql', { query });
    expect([reply.status, reply.body]).toEqual([400, error(400)]);
    expect(reply.body.error.message.length).toBeLessThan(600);
  });
});

describe('pipeline and audit', () => {
  test('lag falls to 0, and the audit is balanced with a row, a dropped record and a dead letter', async () => {
    await addSite('audited');
    await weir.call('POST', '/sites/audited/exclusions', { type: 'path', value: '/secret*' });
    const head = {
      kind: 'import',
      siteId: 'audited',
      receivedAt: Date.now(),
      sealedIp: '',
      userAgent: '',
      acceptLanguage: '',
    } as const;
    const hit = (n: number, path: string) =>
      encodeRawRecord(
        { ...head, eventId: `0197a000-0000-7000-8000-00000000000${n}` },
        JSON.stringify({ url: `https://example.com${path}`, timestamp: 1_700_000_000_000 }),
      );
    const values = [hit(1, '/'), hit(2, '/secret'), Buffer.from('{"eventId":1}')];
    await weir.eventLog.append(
      TOPIC_RAW,
      values.map((value) => ({ key: 'one', value })),
    );
    await eventually('audit', async () => (await weir.call('GET', '/audit')).body.data.totals.in_flight === 0);
    const { data } = (await weir.call('GET', '/audit')).body;
    expect(data.balanced).toBe(true);
    expect(data.totals).toMatchObject({
      received: 3,
      stored: 1,
      dropped: { excluded_path: 1 },
      dead: { unreadable: 1 },
    });
    expect(data.partitions).toHaveLength(4);

    await eventually('lag', async () =>
      (await weir.call('GET', '/pipeline')).body.data.every(({ lag }: { lag: number }) => lag === 0),
    );
    const pipeline = (await weir.call('GET', '/pipeline')).body.data;
    expect(pipeline.map(({ topic, dead_letters }: Record<string, unknown>) => [topic, dead_letters])).toEqual([
      ['events.raw', 1],
      ['events.enriched', 0],
    ]);
  });
});

test('many wrong tokens never block the right one', async () => {
  const attempts = await Promise.all(Array.from({ length: 40 }, () => weir.call('GET', '/sites', undefined, 'wrong')));
  expect(attempts.every(({ status }) => status === 401)).toBe(true);
  expect((await weir.call('GET', '/sites')).status).toBe(200);
});
