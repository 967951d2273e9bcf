import { type AccessLogOutcome, readAccessLogLine } from '../../src/access-log/access-log.ts';
import { readClfTime, readLogTime } from '../../src/access-log/access-log-time.ts';
import { importEventIds } from '../../src/access-log/import-event-ids.ts';

const read = (line: string, format?: 'combined' | 'common' | 'json'): AccessLogOutcome =>
  readAccessLogLine(line, { format, domain: 'example.com' });
const combined = (request: string, status = 200, referrer = '-', agent = 'UA/1.0') =>
  `192.0.2.7 - frank [17/May/2015:10:05:03 +0200] "${request}" ${status} 203 "${referrer}" "${agent}"`;

describe('combined and common', () => {
  test('a page view', () => {
    expect(read(combined('GET /a?b=1 HTTP/1.1', 200, 'https://ref.example/x'))).toEqual({
      kind: 'hit',
      hit: {
        timestamp: Date.UTC(2015, 4, 17, 8, 5, 3),
        ip: '192.0.2.7',
        userAgent: 'UA/1.0',
        url: 'https://example.com/a?b=1',
        referrer: 'https://ref.example/x',
      },
    });
  });
  test('a byte-order mark before the first line is ignored', () => {
    for (const line of [
      combined('GET /a HTTP/1.1'),
      '{"time":"2015-05-17T08:05:03Z","remote_addr":"192.0.2.7","request":"GET /a HTTP/1.1","status":200}',
    ]) {
      expect(read(line)).toMatchObject({ kind: 'hit' });
      expect(read(`\ufeff${line}`)).toEqual(read(line));
    }
  });
  test('common has neither referrer nor user agent', () => {
    const line = '2001:DB8::1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.0" 304 -';
    expect(read(line, 'common')).toMatchObject({
      kind: 'hit',
      hit: { ip: '2001:db8::1', userAgent: undefined, referrer: '' },
    });
    expect(read(line, 'combined')).toMatchObject({ kind: 'bad' });
  });
  test.each([
    ['host.example.net', ''],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:5678', '192.0.2.1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['192.0.2.1,', '192.0.2.1'],
  ])('client %s gives the address "%s"', (client, ip) => {
    const line = `${client} - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.0" 200 -`;
    expect(read(line)).toMatchObject({ kind: 'hit', hit: { ip } });
  });
  test.each(['999.1.1.1', '1:2:3', '-', 'unix:', 'a/b', '192.0.2.*'])('a line with the client %s is bad', (client) => {
    const line = `${client} - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.0" 200 -`;
    expect(read(line)).toEqual({ kind: 'bad', reason: 'the client is neither an IP address nor a host name' });
  });
  test('escapes are decoded', () => {
    const outcome = read(combined('GET /\\xC3\\xA9 HTTP/1.1', 200, '-', 'a \\"b\\" \\x22c'));
    expect(outcome).toMatchObject({ hit: { url: 'https://example.com/é', userAgent: 'a "b" "c' } });
  });
  test.each([
    ['a backslash before x41 (Apache)', '\\\\x41', '\\x41'],
    ['a backslash before a quote (Apache)', '\\\\\\"', '\\"'],
    ['a backslash before a quote (nginx)', '\\x5C\\x22', '\\"'],
    ['a tab and a line feed (Apache)', 'a\\tb\\nc', 'a\tb\nc'],
  ])('escapes are decoded only once: %s', (_, written, userAgent) => {
    expect(read(combined('GET / HTTP/1.1', 200, '-', written))).toMatchObject({ hit: { userAgent } });
  });
  test('a user agent can contain unescaped quotes, and fields after it are ignored', () => {
    expect(read(combined('GET / HTTP/1.1', 200, '-', 'a "b" c'))).toMatchObject({ hit: { userAgent: 'a "b" c' } });
    expect(read(`${combined('GET / HTTP/1.1')} "203.0.113.9" 0.003`)).toMatchObject({ hit: { userAgent: 'UA/1.0' } });
  });
  test.each([undefined, 'combined'] as const)(
    'a user agent without its end, because the line was cut off, is read (format %s)',
    (format) => {
      const line = combined('GET / HTTP/1.1', 200, '-', 'Mozilla/5.0 (compatible; Googlebot/2.1').slice(0, -1);
      expect(readAccessLogLine(line, { format, domain: 'example.com' })).toMatchObject({
        hit: { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1' },
      });
    },
  );
  test('a referrer can contain unescaped quotes', () => {
    const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1)';
    for (const referrer of ['https://x.y/?q="a b"', 'https://x.y/?a="b"&c="d"', 'https://x.y/a\\" "b']) {
      for (const rest of ['', ' "203.0.113.9"']) {
        const line = combined('GET / HTTP/1.1', 200, referrer, googlebot) + rest;
        expect(read(line)).toMatchObject({ hit: { referrer: referrer.replace('\\', ''), userAgent: googlebot } });
      }
    }
  });
  test('a line with another field between referrer and user agent is read without both', () => {
    const line = combined('GET / HTTP/1.1').replace(
      '"-" "UA/1.0"',
      '"https://r.example/" 0.003 "UA/1.0" "203.0.113.9"',
    );
    expect(read(line)).toMatchObject({ hit: { referrer: '', userAgent: undefined } });
  });
  test.each(['"', '"https://x.y/lon', '"https://x.y/\\', '"https://x.y/\\"'])(
    'a line that was cut off within the referrer (%s) is bad',
    (referrer) => {
      const line = combined('GET / HTTP/1.1').replace('"-" "UA/1.0"', referrer);
      expect(read(line)).toEqual({ kind: 'bad', reason: 'the line was cut off within the referrer' });
    },
  );
  test('a log without a field for the user agent is not a log of clients without a user agent', () => {
    const agentOf = (line: string) => {
      const outcome = readAccessLogLine(line, { format: undefined, domain: 'example.com' });
      return outcome.kind === 'hit' ? outcome.hit.userAgent : outcome;
    };
    const json = (fields: object) => agentOf(JSON.stringify({ time: '2026-05-17T10:05:03Z', url: '/', ...fields }));
    expect(agentOf('203.0.113.5 - - [17/May/2026:10:05:03 +0200] "GET / HTTP/1.1" 200 12')).toBeUndefined();
    expect(agentOf(combined('GET / HTTP/1.1', 200, '-', '-'))).toBe('');
    expect(json({})).toBeUndefined();
    expect(json({ http_user_agent: '' })).toBe('');
    expect(json({ user_agent: '-' })).toBe('');
    expect(json({ user_agent: null })).toBe('');
    // Caddy logs an object of the headers that were sent. If it lacks User-Agent, the client sent none.
    expect(json({ request: { headers: { Referer: ['https://r.example/'] } } })).toBe('');
  });
  test('long texts are cut', () => {
    const outcome = read(
      combined(`GET /${'é'.repeat(5000)} HTTP/1.1`, 200, `http://r/${'x'.repeat(5000)}`, 'u'.repeat(2000)),
    );
    expect(outcome.kind === 'hit' && [...outcome.hit.url].length).toBe(4096);
    expect(outcome.kind === 'hit' && outcome.hit.referrer.length).toBe(4096);
    expect(outcome.kind === 'hit' && outcome.hit.userAgent?.length).toBe(1024);
  });
  test.each([
    'nonsense',
    `"${'x'.repeat(70_000)}`,
    combined('GET / HTTP/1.1').replace('May', 'Moy'),
    combined('GET foo HTTP/1.1'),
  ])('line %# is bad', (line) => {
    expect(read(line).kind).toBe('bad');
  });
});

describe('requests for assets, failed requests and requests other than GET are skipped', () => {
  test.each([
    [combined('GET /style.CSS?v=3 HTTP/1.1'), 'asset'],
    [combined('GET /logo.png HTTP/1.1', 304), 'asset'],
    [combined('GET /gone HTTP/1.1', 404), 'status'],
    [combined('\\x16\\x03\\x01', 400), 'status'],
    [combined('POST /form HTTP/1.1'), 'method'],
    [combined('HEAD / HTTP/1.1'), 'method'],
    ['   ', 'blank'],
    [combined('GET /robots.txt?x HTTP/1.1'), 'robots'],
    [combined('GET https://h.example/robots.txt HTTP/1.1'), 'robots'],
    [combined('GET /sitemap.xml HTTP/1.1'), 'sitemap'],
    [combined('GET /Sitemap_index.XML.gz HTTP/1.1'), 'sitemap'],
    [combined('GET /post-sitemap2.xml HTTP/1.1'), 'sitemap'],
    [combined('GET /feed/ HTTP/1.1'), 'feed'],
    [combined('GET /blog/feed/atom HTTP/1.1'), 'feed'],
    [combined('GET /rss HTTP/1.1'), 'feed'],
    [combined('GET /atom.xml HTTP/1.1'), 'feed'],
    [combined('GET /blog/rss20.xml HTTP/1.1'), 'feed'],
    [combined('GET /feeds/posts/default HTTP/1.1'), 'feed'],
    [combined('GET /news.rss HTTP/1.1'), 'feed'],
    [combined('GET //favicon.ico HTTP/1.1'), 'asset'],
    [combined('GET /favicon.php HTTP/1.1'), 'asset'],
    [combined('GET /apple-touch-icon-120x120-precomposed.png HTTP/1.1'), 'asset'],
    [combined('GET /apple-touch-icon HTTP/1.1'), 'asset'],
    [combined('GET /.well-known/security.txt HTTP/1.1'), 'well_known'],
    [combined('GET /ads.txt HTTP/1.1'), 'ads_txt'],
    [combined('GET /app-ads.txt HTTP/1.1'), 'ads_txt'],
  ])('%s', (line, reason) => {
    expect(read(line)).toEqual({ kind: 'skip', reason });
  });
  test.each([
    ...['/feedback.php', '/feed/how-to', '/atomic.html', '/blog/robots', '/sitemap', '/sitemap.html', '/uploads.txt'],
    ...['/threads.txt', '/rssh', '/favicons', '/blog/well-known/', '/page.xml'],
  ])('%s is a page view', (path) => {
    expect(read(combined(`GET ${path} HTTP/1.1`)).kind).toBe('hit');
  });
  test.each([200, 206, 301, 304, 399])('a request with status %i is a page view', (status) => {
    expect(read(combined('GET /paper.pdf HTTP/1.1', status)).kind).toBe('hit');
  });
});

describe('JSON lines', () => {
  const hit = { ip: '192.0.2.7', userAgent: 'UA', url: 'https://h.example/p?q=1', referrer: 'https://r.example/' };
  test('the names of the API', () => {
    const line = { timestamp: 1431857103000, ip: hit.ip, url: hit.url, referrer: hit.referrer, user_agent: 'UA' };
    expect(read(JSON.stringify(line))).toEqual({ kind: 'hit', hit: { timestamp: 1431857103000, ...hit } });
  });
  test('nginx', () => {
    const line = JSON.stringify({
      time_iso8601: '2015-05-17T10:05:03+00:00',
      remote_addr: hit.ip,
      request: 'GET /p?q=1 HTTP/2.0',
      status: '200',
      host: 'h.example',
      http_referer: hit.referrer,
      http_user_agent: 'UA',
    });
    expect(read(line, 'json')).toEqual({ kind: 'hit', hit: { timestamp: 1431857103000, ...hit } });
  });
  test('Caddy', () => {
    const headers = { 'User-Agent': ['UA'], Referer: [hit.referrer] };
    const request = { remote_ip: hit.ip, method: 'GET', host: 'h.example', uri: '/p?q=1', headers };
    const line = JSON.stringify({ ts: 1431857103.25, request, status: 200 });
    expect(read(line)).toEqual({ kind: 'hit', hit: { timestamp: 1431857103250, ...hit } });
  });
  test.each(['{', '[]', '{"time":1}', '{"url":"/x"}', '{"url":"ftp://x/","time":1}'])('%s is a bad line', (line) => {
    expect(read(line, 'json').kind).toBe('bad');
  });

  test('a row of weir export events is a bad line, so that its event is not stored a second time', () => {
    const row = { event_id: 'e', timestamp: '2026-05-17T10:05:03Z', url: 'https://example.com/', raw_offset: 7 };
    expect(read(JSON.stringify(row))).toEqual({
      kind: 'bad',
      reason:
        'a row of weir export events, not of an access log: only a dump of weir export everything can be imported',
    });
  });
  test.each([
    ['h.example:8443', 'h.example'],
    ['H.example.', 'h.example'],
    ['[2001:db8::1]:443', '[2001:db8::1]'],
    ['localhost:3000', 'localhost'],
    ['-', 'example.com'],
    ['_', 'example.com'],
    // With this host, the URL would have another path. So the domain of the site is used instead.
    ['evil/../a', 'example.com'],
  ])('the host %s gives URLs with %s', (host, found) => {
    expect(read(JSON.stringify({ url: '/x', time: 1, host }))).toMatchObject({ hit: { url: `https://${found}/x` } });
  });
});

test('times', () => {
  expect(readClfTime('29/Feb/2024:23:59:59.250 -0130')).toBe(Date.UTC(2024, 2, 1, 1, 29, 59, 250));
  expect(readClfTime('30/Feb/2024:23:59:59 +0000')).toBeNaN();
  expect(readLogTime('2024-02-29 10:00:00')).toBe(Date.UTC(2024, 1, 29, 10));
  expect(readLogTime('2023-02-30T10:00:00Z')).toBeNaN();
  expect(readLogTime('2024-02-29 10:00:00,250')).toBe(Date.UTC(2024, 1, 29, 10, 0, 0, 250));
  for (const text of ['2024-02-29T10:00:00+02', '2024-02-29 10:00:00 +0200', '2024-02-29T10:00:00 +02:00']) {
    expect(readLogTime(text)).toBe(Date.UTC(2024, 1, 29, 8));
  }
  expect(readLogTime('2024-02-29')).toBe(Date.UTC(2024, 1, 29));
  expect(readLogTime('1700000000.5')).toBe(1700000000500);
  expect(readLogTime({})).toBeNaN();
});

test('an event ID depends only on site, file and line', () => {
  const ids = importEventIds('s', 'd');
  expect(ids(1)).toBe(importEventIds('s', 'd')(1));
  expect(new Set([ids(1), ids(2), importEventIds('s2', 'd')(1), importEventIds('s', 'd2')(1)]).size).toBe(4);
  expect(ids(1)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
