import { eventually } from '@weir/testkit/eventually';
import { cli, terminal } from './cli-harness.ts';
import { useControl } from './use-control.ts';

const { weir, env } = useControl();

const run = (...args: string[]) => cli(args, { env });

test('site add, list, show, set, remove', async () => {
  const added = await run('site', 'add', 'example.com', '--id', 'shop', '--name', 'Shop', '--json');
  expect([added.exitCode, added.json]).toMatchObject([0, { site_id: 'shop', name: 'Shop' }]);
  expect((await run('site', 'list')).out).toMatch(
    /^site_id +name +domain +timezone +keeps events +profiles +rollups +created_at\nshop +Shop +example\.com +UTC +forever/,
  );
  expect(
    (await run('site', 'set', 'shop', '--keep-events', '400d', '--keep-profiles', '2y', '--json')).json.kept,
  ).toEqual({
    events: '400d',
    profiles: '2y',
    rollups: 'forever',
  });
  expect((await run('site', 'set', 'shop', '--limit-events', '6000', '--json')).json.limits).toEqual({ events: 6000 });
  expect((await run('site', 'set', 'shop', '--limit-events', 'default', '--json')).json.limits).toEqual({});
  expect((await run('site', 'show', 'shop')).out).toMatch(/site_id +shop\n/);
  expect((await run('site', 'set', 'shop', '--query-allow', 'page, q', '--json')).json.query_allow).toEqual([
    'page',
    'q',
  ]);
  expect((await run('site', 'set', 'shop', '--name', 'S', '--json')).json.query_allow).toEqual(['page', 'q']);
  expect((await run('site', 'set', 'shop', '--query-allow', 'none', '--json')).json.query_allow).toEqual([]);
  expect((await run('site', 'set', 'shop', '--query-allow', 'all', '--json')).json.query_allow).toBeNull();
  const cut = await run('site', 'add', 'example.com', '--id', 'cut', '--query-allow', 'q', '--json');
  expect(cut.json).toMatchObject({ query_allow: ['q'], timezone: 'UTC' });
  const taken = await run('site', 'add', 'example.com', '--id', 'shop');
  expect([taken.exitCode, taken.out, taken.err]).toEqual([1, '', 'weir: site_id shop is taken\n']);
  expect((await run('site', 'remove', 'shop')).out).toMatch(
    /^removed shop; its records are being erased: weir forget --receipt erasure_\w+\n$/,
  );
  expect((await run('site', 'show', 'shop')).exitCode).toBe(1);
});

test('site identity-secret: shown once; signatures required and optional', async () => {
  await run('site', 'add', 'example.com', '--id', 'signed');
  expect((await run('site', 'set', 'signed', '--identity-signature', 'required')).exitCode).toBe(1);
  const made = await run('site', 'identity-secret', 'signed');
  expect([made.exitCode, made.out]).toEqual([
    0,
    expect.stringMatching(/^wis_[\w-]{43}\nStore it on your servers only: it cannot be shown again\.\n$/),
  ]);
  const secret = made.out.split('\n')[0] as string;
  const set = await run('site', 'set', 'signed', '--identity-signature', 'required', '--json');
  expect(set.json.identity_verification).toEqual({ required: true, secret_created_at: expect.any(String) });
  expect(set.out + (await run('site', 'show', 'signed')).out).not.toContain(secret);
  expect((await run('site', 'identity-secret', 'signed', '--remove')).exitCode).toBe(1);
  await run('site', 'set', 'signed', '--identity-signature', 'optional');
  expect((await run('site', 'identity-secret', 'signed', '--remove')).out).toBe(
    'removed the identity secret of signed\n',
  );
});

test('key add, list, revoke; exclusion add, list, remove', async () => {
  await run('site', 'add', 'example.com', '--id', 'k');
  const key = (await run('key', 'add', '--site', 'k', '--name', 'one', '--json')).json;
  expect(key).toMatchObject({ key: expect.any(String), scopes: ['events:write', 'identify:write'] });
  const legacy = await run('key', 'add', '--site', 'k', '--name', 'old', '--legacy-identify', '--json');
  expect(legacy.json).toMatchObject({ legacy_identify: true });
  expect((await run('key', 'list', '--site', 'k')).out).not.toContain(key.key);
  expect((await run('key', 'revoke', key.key_id, '--site', 'k')).out).toBe(`revoked ${key.key_id}\n`);
  expect((await run('key', 'list', '--site', 'k', '--json')).json).toHaveLength(1);

  const rule = (await run('exclusion', 'add', 'ip', '192.0.2.0/24', '--site', 'k', '--json')).json;
  expect((await run('exclusion', 'list', '--site', 'k')).out).toMatch(/192\.0\.2\.0\/24 .* 0 +never\n$/);
  const tried = (ip: string) => run('exclusion', 'test', '--site', 'k', '--ip', ip, '--path', '/x');
  expect((await tried('192.0.2.9')).out).toBe(`dropped by ${rule.rule_id}: ip 192.0.2.0/24\n`);
  expect((await tried('198.51.100.9')).out).toBe('no rule drops this hit\n');
  expect((await run('exclusion', 'remove', rule.rule_id, '--site', 'k')).exitCode).toBe(0);
  const refused = await run('exclusion', 'add', 'ip', 'x', '--site', 'k');
  expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining('must be an IP address or a CIDR')]);
});

test('viewer add, list, remove', async () => {
  await run('site', 'add', 'example.com', '--id', 'watched');
  const added = await run('viewer', 'add', '--site', 'watched', '--name', 'Ada');
  expect([added.exitCode, added.out]).toEqual([0, expect.stringMatching(/\ntoken +wv_[\w-]{43}\nStore the token now/)]);
  const token = /wv_[\w-]{43}/.exec(added.out)?.[0] ?? '';
  const listed = await run('viewer', 'list', '--site', 'watched');
  expect(listed.out).toMatch(
    /^viewer_id +name +prefix +created_at +last_used_at\nviewer_\w+ +Ada +wv_.{5} .* never\n$/,
  );
  expect(listed.out).not.toContain(token);
  const refused = await cli(['site', 'list'], { env: { ...env, WEIR_ADMIN_TOKEN: token } });
  expect([refused.exitCode, refused.err]).toEqual([1, 'weir: this token cannot be used for this call\n']);
  const stats = await cli(['stats', 'watched', '--json'], { env: { ...env, WEIR_ADMIN_TOKEN: token } });
  expect(stats.exitCode).toBe(0);
  const viewerId = /viewer_[a-z2-9]{12}/.exec(added.out)?.[0] ?? '';
  expect((await run('viewer', 'remove', viewerId, '--site', 'watched')).out).toBe(`removed ${viewerId}\n`);
  expect((await run('viewer', 'list', '--site', 'watched')).out).toMatch(/^no viewers yet/);
});

test('segment and annotation: add, list, remove', async () => {
  await run('site', 'add', 'example.com', '--id', 'saved', '--timezone', 'Asia/Tokyo');
  const filters = ['--filter', 'country:is:DE', 'device:is:mobile'];
  const segment = (await run('segment', 'add', '--site', 'saved', '--name', 'DE', ...filters, '--json')).json;
  expect(segment.filters).toEqual(['country:is:DE', 'device:is:mobile']);
  expect((await run('segment', 'list', '--site', 'saved')).out).toMatch(/ +DE +country:is:DE {2}device:is:mobile\n$/);
  expect((await run('segment', 'remove', segment.segment_id, '--site', 'saved')).exitCode).toBe(0);
  expect((await run('segment', 'list', '--site', 'saved')).out).toBe('no segments\n');
  const note = await run('annotation', 'add', 'Released', '--site', 'saved', '--at', '2026-11-22');
  expect(note.out).toMatch(/^added annotation_\w+ at 2026-11-21T15:00:00.000Z\n$/);
  const [annotation] = (await run('annotation', 'list', '--site', 'saved', '--json')).json;
  expect((await run('annotation', 'remove', annotation.annotation_id, '--site', 'saved')).exitCode).toBe(0);
  expect((await run('annotation', 'list', '--site', 'saved')).out).toBe('no annotations\n');
});

test('person search and show', async () => {
  await run('site', 'add', 'example.com', '--id', 'people');
  expect((await run('person', 'search', 'ada', '--site', 'people')).out).toBe('no users found\n');
  expect((await run('person', 'show', '--user', 'u', '--site', 'people')).out).toBe('no events\n');
  expect((await run('person', 'search', '--site', 'people', '--json')).json).toMatchObject({ limit: 50, people: [] });
  const refused = await run('person', 'show', '--user', 'u', '--site', 'people', '--limit', '999');
  expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining('limit must be <= 200')]);
  const unreadable = await run('person', 'search', '--site', 'people', '--limit', 'abc');
  expect([unreadable.exitCode, unreadable.err]).toEqual([2, expect.stringContaining('it must be a whole number')]);
  expect((await run('person', 'show', '--site', 'people')).err).toContain('name either visitor_id or user_id');
});

test('visitor unlink appends a record, which the audit counts as an identify', async () => {
  await run('site', 'add', 'example.com', '--id', 'v');
  const named = await run('visitor', 'unlink', 'v_1', '--user', '42', '--site', 'v');
  expect([named.exitCode, named.out]).toEqual([0, 'unlinked v_1 from 42\n']);
  const unreachable = await run('visitor', 'unlink', 'v_1', '--site', 'v');
  expect([unreachable.exitCode, unreachable.err]).toEqual([1, 'weir: a user of this visitor not found\n']);
  await eventually('the record to be an outcome', async () => {
    const sql = "SELECT outcome, reason FROM outcomes WHERE site_id = 'v'";
    expect((await run('sql', sql, '--json')).json.rows).toEqual([{ outcome: 'identify', reason: 'unlink' }]);
    return true;
  });
});

test('stats and breakdown, as text and as JSON', async () => {
  await run('site', 'add', 'example.com', '--id', 'numbers', '--timezone', 'Europe/Berlin');
  const days = ['--from', '2026-03-28', '--to', '2026-03-30'];
  const stats = await run('stats', 'numbers', ...days, '--compare', 'previous_year', '--explain');
  expect(stats.exitCode).toBe(0);
  expect(stats.out).toMatch(/^day \(Europe\/Berlin\) +visitors .*\n2026-03-28 +0 +0/);
  expect(stats.out).toMatch(/\ntotal +0 .*\nbefore +0 .*\n\nleft out: \{"rows":0,/);
  const json = (await run('stats', 'numbers', ...days, '--interval', 'week', '--bots', '--json')).json;
  expect(json).toMatchObject({ interval: 'week', bots: 'include', totals: { visitors: 0, bounce_rate: null } });
  const filters = ['--filter', 'country:is:DE', '--filter', 'page:matches:/a*'];
  const pages = await run('breakdown', 'numbers', '--by', 'page', ...days, ...filters);
  expect([pages.exitCode, pages.out]).toEqual([0, 'no rows in this period\n']);
  expect((await run('properties', 'numbers', ...days)).out).toBe('no properties in this period\n');
  const refused = await run('breakdown', 'numbers', '--by', 'planet');
  expect([refused.exitCode, refused.err]).toEqual([1, expect.stringMatching(/^weir: dimension must be one of page/)]);
  expect((await run('breakdown', 'numbers')).exitCode).toBe(2);
});

test('goal add, list, stats, remove', async () => {
  await run('site', 'add', 'example.com', '--id', 'goals');
  const of = ['--site', 'goals'];
  const added = await run('goal', 'add', 'event', 'signup', '--name', 'Signed up', ...of);
  expect([added.exitCode, added.out]).toEqual([0, expect.stringMatching(/^added goal_\w+\n$/)]);
  const id = added.out.slice('added '.length).trim();
  expect((await run('goal', 'list', ...of)).out).toContain(`${id}  Signed up  event  signup`);
  const stats = await run('goal', 'stats', ...of, '--period', '7d');
  expect([stats.exitCode, stats.out]).toEqual([
    0,
    expect.stringMatching(/^goal .*\nSigned up +0 +0 +-\nof 0 visitors\n$/),
  ]);
  expect((await run('goal', 'stats', ...of, '--goal', id, '--by', 'channel')).out).toBe('no rows in this period\n');
  expect((await run('goal', 'remove', id, ...of)).out).toBe(`removed ${id}\n`);
});

test('funnel, as text and as JSON; saved, listed, shown and removed', async () => {
  await run('site', 'add', 'example.com', '--id', 'steps');
  const steps = ['--site', 'steps', '--step', 'page:/', '--step', 'event:sign up & pay', '--within', '24h'];
  const funnel = await run('funnel', ...steps);
  expect([funnel.exitCode, funnel.out]).toEqual([
    0,
    expect.stringMatching(/\n1 +page:\/ +0 +0 +- +-\n2 +event:sign up & pay +0/),
  ]);
  expect((await run('funnel', ...steps, '--json')).json).toMatchObject({ within_seconds: 86_400 });
  const added = await run('funnel', 'add', '--name', 'Sale', ...steps);
  const id = added.out.match(/^added (funnel_\w+)\n$/)?.[1] ?? '';
  const list = await run('funnel', 'list', '--site', 'steps');
  expect(list.out).toContain(`${id}  Sale  page:/  event:sign up & pay  24h`);
  const saved = await run('funnel', 'show', '--site', 'steps', '--saved', id);
  expect([saved.exitCode, saved.out]).toEqual([0, funnel.out]);
  expect((await run('funnel', 'remove', id, '--site', 'steps')).out).toBe(`removed ${id}\n`);
  expect((await run('funnel', 'list', '--site', 'steps')).out).toBe('no saved funnels\n');
});

test('cohorts and journeys, as text and as JSON', async () => {
  await run('site', 'add', 'example.com', '--id', 'later');
  const cohorts = await run(
    'cohorts',
    '--site',
    'later',
    '--from',
    '2026-03-02',
    '--to',
    '2026-03-15',
    '--interval',
    'week',
  );
  expect([cohorts.exitCode, cohorts.out]).toEqual([
    0,
    expect.stringMatching(/^week \(UTC\) +new visitors +\+1\n2026-03-02 +0 +-\n/),
  ]);
  expect((await run('cohorts', '--site', 'later', '--json')).json.cohorts).toHaveLength(30);
  const journeys = await run('journeys', '/a', '--site', 'later');
  expect([journeys.exitCode, journeys.out]).toEqual([0, expect.stringMatching(/^\/a: 0 views in 0 visits\n/)]);
  expect((await run('journeys', '/a', '--site', 'later', '--json')).json).toMatchObject({ path: '/a', next: [] });
});

test('stats --all, as text and as JSON', async () => {
  const all = await run('stats', '--all', '--period', '7d');
  expect([all.exitCode, all.out]).toEqual([0, expect.stringMatching(/^site +name +visitors +change .*by day\n/)]);
  expect((await run('stats', '--all', '--json')).json.sites.length).toBeGreaterThan(0);
  const neither = await run('stats');
  expect([neither.exitCode, neither.err]).toEqual([2, 'weir: name a site, or give --all\n']);
  expect((await run('stats', 'numbers', '--all')).exitCode).toBe(2);
});

test('realtime, as text and as JSON', async () => {
  await run('site', 'add', 'example.com', '--id', 'now');
  const now = await run('realtime', '--site', 'now', '--filter', 'country:is:DE', '--limit', '3');
  expect(now.exitCode).toBe(0);
  expect(now.out).toMatch(/^last +visitors +pageviews +events\n5 minutes +0 +0 +0\n30 minutes +0 +0 +0\n\nno hits in/);
  expect((await run('realtime', '--site', 'now', '--json')).json).toMatchObject({ site_id: 'now', limit: 10 });
});

test('sql, status, audit', async () => {
  const sql = await run('sql', 'SELECT {a:String} AS a, 12 AS n', '--param', 'a=x=y');
  expect(sql.out).toBe('a     n\nx=y  12\n');
  expect((await run('sql', 'SELECT 1 WHERE 0')).out).toBe('no rows\n');
  expect(await run('sql', 'DROP TABLE records')).toMatchObject({
    exitCode: 1,
    err: expect.stringMatching(/^weir: only SELECT/),
  });
  const status = await run('status');
  expect(status.out).toMatch(/events\.raw +weir-enricher +0/);
  const audit = await run('audit');
  expect([audit.exitCode, audit.out, audit.err]).toEqual([0, expect.stringContaining('OK: every record'), '']);
  // On a terminal, the line with the time of waiting is removed at the end.
  for (const options of [[], ['--reports']]) {
    const shown = await cli(['audit', ...options], { env, stdin: terminal('') });
    expect([shown.exitCode, shown.err.endsWith('\r\u001b[K')]).toEqual([0, true]);
  }
});

describe('exit codes', () => {
  test('2: usage and settings', async () => {
    expect((await run('site', 'fly')).exitCode).toBe(2);
    expect((await run('key', 'list')).err).toContain("required option '-s, --site <site_id>'");
    expect((await run('sql', 'SELECT 1', '--param', 'x')).exitCode).toBe(2);
    expect((await run('site', 'set', 'k')).exitCode).toBe(2);
    expect((await cli(['site', 'list'], { env: { WEIR_URL: 'ftp://x' } })).exitCode).toBe(2);
    expect((await cli(['site', 'list'], { env: { WEIR_DATA_DIR: '/nowhere' } })).err).toMatch(/^weir: no admin token/);
  });
  test('3: Weir cannot be reached, or the server is not Weir', async () => {
    const unreachable = await cli(['site', 'list'], { env: { ...env, WEIR_URL: 'http://127.0.0.1:1' } });
    expect([unreachable.exitCode, unreachable.err]).toEqual([3, expect.stringMatching(/^weir: can't reach Weir at/)]);
    const other = await cli(['site', 'list'], { env: { ...env, WEIR_URL: `${weir.url}/dashboard` } });
    expect(other.exitCode).toBe(3);
  });
  test('1: a wrong token', async () => {
    const wrong = await cli(['site', 'list'], { env: { ...env, WEIR_ADMIN_TOKEN: 'wrong' } });
    const message = `weir: Weir at ${weir.url} does not accept the admin token from WEIR_ADMIN_TOKEN: set`;
    expect([wrong.exitCode, wrong.err]).toEqual([1, expect.stringContaining(message)]);
  });
});

test.each([
  '',
  'site',
  'site add',
  'key add',
  'exclusion add',
  'stats',
  'breakdown',
  'realtime',
  'funnel',
  'funnel show',
  'funnel add',
  'properties',
  'cohorts',
  'journeys',
  'goal add',
  'goal stats',
  'sql',
  'status',
  'audit',
  'import',
])('weir %s --help has examples and needs no settings', async (command) => {
  const help = await cli([...command.split(' ').filter(Boolean), '--help'], { env: {} });
  expect(help.exitCode).toBe(0);
  if (command !== 'site') expect(help.out).toContain('Examples:');
});
