import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { type ClientIpConfig, createFindClientIp } from '../src/admission/find-client-ip.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A request as node:http would pass it to the application. Repeated headers are joined by the rules of node:http. */
function requestOf(peer: string, headers: Headers): IncomingMessage {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: peer === '' ? undefined : peer });
  const request = new IncomingMessage(socket);
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((line) => [name, line]));
  const own = request as unknown as { _addHeaderLines(lines: string[], count: number): void };
  own._addHeaderLines(lines.flat() as string[], lines.length * 2);
  return request;
}

function find(config: Partial<ClientIpConfig>, peer: string, headers: Headers) {
  return createFindClientIp({ trustedProxies: [], clientIpHeader: undefined, ...config })(requestOf(peer, headers));
}
const PROXY = '10.0.0.2';
const behind = (headers: Headers, config: Partial<ClientIpConfig> = {}) =>
  find({ trustedProxies: ['10.0.0.0/8'], ...config }, PROXY, headers);

describe('X-Forwarded-For is trusted only as far as the trusted proxies go; by default there are none', () => {
  test('by default no header is trusted', () => {
    const headers = {
      'X-Forwarded-For': '203.0.113.1',
      Forwarded: 'for=203.0.113.1',
      'CF-Connecting-IP': '203.0.113.1',
    };
    const direct = { address: '198.51.100.9', header: '', peer: '198.51.100.9', peerTrusted: false };
    expect(find({}, '198.51.100.9', headers)).toEqual(direct);
    expect(find({ trustedProxies: 0 }, '198.51.100.9', headers)).toEqual(direct);
    expect(find({ trustedProxies: ['10.0.0.0/8'] }, '198.51.100.9', headers)).toEqual(direct);
  });

  test.each([
    ['one hop', ['10.0.0.0/8'], '203.0.113.1', '203.0.113.1'],
    ['a spoofed left part', ['10.0.0.0/8'], '1.1.1.1, 2.2.2.2, 203.0.113.1', '203.0.113.1'],
    ['three proxies', ['10.0.0.0/8', '192.0.2.0/24'], '1.1.1.1, 203.0.113.1, 192.0.2.7, 10.0.0.9', '203.0.113.1'],
    ['all trusted: the first', ['0.0.0.0/0'], '203.0.113.1, 192.0.2.7', '203.0.113.1'],
    ['IPv6 proxies and client', ['10.0.0.2', '2001:db8:1::/48'], '2001:DB8:2::1, 2001:db8:1::5', '2001:db8:2::1'],
    ['a hop count', 1, '1.1.1.1, 203.0.113.1', '203.0.113.1'],
    ['a hop count of two', 2, '1.1.1.1, 203.0.113.1, 192.0.2.7', '203.0.113.1'],
    ['fewer hops than counted', 5, '203.0.113.1', '203.0.113.1'],
    ['ports', 1, '203.0.113.1:52814', '203.0.113.1'],
    ['brackets and ports', 1, '[2001:db8::1]:443', '2001:db8::1'],
    ['IPv4-mapped', 1, '::ffff:203.0.113.1', '203.0.113.1'],
    ['IPv4-mapped in hex', 1, '::FFFF:cb00:7101', '203.0.113.1'],
    ['a zone', 1, 'fe80::1%eth0', 'fe80::1'],
    ['empty elements', 1, '203.0.113.1, ,\t,', '203.0.113.1'],
    ['empty', 1, '', PROXY],
    ['unknown ends the chain', 2, 'unknown, 203.0.113.1', '203.0.113.1'],
    ['garbage nearest to us', 2, '203.0.113.1, <script>', PROXY],
    ['a number out of range', 1, '999.1.1.1', PROXY],
    ['a decimal address', 1, '3405803777', PROXY],
    ['an octal address', 1, '0313.0.0161.1', PROXY],
    ['a host name', 1, 'localhost', PROXY],
    ['a bracketed IPv4 address', 1, '[203.0.113.1]', PROXY],
  ] as const)('%s', (_name, trustedProxies, forwarded, address) => {
    expect(find({ trustedProxies }, PROXY, { 'X-Forwarded-For': forwarded }).address).toBe(address);
  });

  test('repeated headers form one list', () => {
    const lines = { 'X-Forwarded-For': ['1.1.1.1', '203.0.113.1', '10.0.0.3'] };
    expect(behind(lines)).toMatchObject({ address: '203.0.113.1', header: 'x-forwarded-for', peerTrusted: true });
  });

  test('an IPv4-mapped address of a proxy counts as its IPv4 address', () => {
    expect(find({ trustedProxies: [PROXY] }, `::ffff:${PROXY}`, { 'X-Forwarded-For': '203.0.113.1' })).toEqual({
      address: '203.0.113.1',
      header: 'x-forwarded-for',
      peer: PROXY,
      peerTrusted: true,
    });
    const mapped = { trustedProxies: ['::ffff:10.0.0.0/104'] };
    expect(find(mapped, PROXY, { 'X-Forwarded-For': '203.0.113.1' }).address).toBe('203.0.113.1');
  });

  test('at most 32 addresses of a header are checked', () => {
    const chain = Array.from({ length: 2_000 }, (_, i) => `10.1.${i >> 8}.${i & 255}`);
    expect(behind({ 'X-Forwarded-For': chain.join(',') }).address).toBe(chain.at(-32));
  });

  test('a closed connection has no address', () => {
    expect(find({ trustedProxies: 1 }, '', { 'X-Forwarded-For': '203.0.113.1' }).address).toBe('');
  });
});

describe('RFC 7239 Forwarded', () => {
  test.each([
    ['for=203.0.113.1', '203.0.113.1'],
    ['For="203.0.113.1:4711"', '203.0.113.1'],
    ['for="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['for="[2001:db8:cafe::17]"', '2001:db8:cafe::17'],
    ['for="[::ffff:203.0.113.1]"', '203.0.113.1'],
    ['for=203.0.113.1:_port;proto=https;by=203.0.113.43', '203.0.113.1'],
    ['proto=http; by="10.0.0.1"; FOR = 203.0.113.1 ; host="a;b,c"', '203.0.113.1'],
    ['for="203.0.113\\.1"', '203.0.113.1'],
    ['for=1.1.1.1, for=203.0.113.1, for=10.0.0.7', '203.0.113.1'],
    ['for=203.0.113.1, for=unknown', PROXY],
    ['for=203.0.113.1, for=_hidden', PROXY],
    ['for=203.0.113.1, proto=https', PROXY],
    ['for=unknown, for=203.0.113.1', '203.0.113.1'],
    ['for=1.1.1.1;for=203.0.113.1', PROXY],
    ['for', PROXY],
    ['for="203.0.113.1', PROXY],
    ['', PROXY],
    // An unclosed quote that the client sent must not hide the address that the proxy added.
    ['for="1.1.1.1, for=203.0.113.1', '203.0.113.1'],
    ['for=1.1.1.1\\", for=203.0.113.1', '203.0.113.1'],
    ['for="1.1.1.1;x=", for="203.0.113.1"', '203.0.113.1'],
  ])('%s', (forwarded, address) => {
    expect(behind({ Forwarded: forwarded }).address).toBe(address);
  });

  test('repeated headers form one list', () => {
    const lines = { Forwarded: ['for=1.1.1.1', 'for="[2001:db8::1]"', 'for=10.0.0.3'] };
    expect(behind(lines)).toMatchObject({ address: '2001:db8::1', header: 'forwarded' });
  });

  test('X-Forwarded-For wins over Forwarded: a proxy that writes one of them passes the other on unchanged', () => {
    const both = { 'X-Forwarded-For': '203.0.113.1', Forwarded: 'for=1.1.1.1' };
    expect(behind(both).address).toBe('203.0.113.1');
    expect(behind({ ...both, 'X-Forwarded-For': 'garbage' }).address).toBe(PROXY);
    expect(behind({ ...both, Forwarded: 'for=203.0.113.7' }, { clientIpHeader: 'forwarded' }).address).toBe(
      '203.0.113.7',
    );
    const only = { clientIpHeader: 'x-forwarded-for' };
    expect(behind({ Forwarded: 'for=1.1.1.1' }, only).address).toBe(PROXY);
    expect(behind({ 'X-Forwarded-For': '1.1.1.1' }, { clientIpHeader: 'forwarded' }).address).toBe(PROXY);
  });
});

describe('headers of CDNs are read only if configured', () => {
  const NAMES = ['CF-Connecting-IP', 'True-Client-IP', 'X-Real-IP', 'Fly-Client-IP', 'Fastly-Client-IP', 'X-Client-IP'];

  test.each(NAMES)('%s', (name) => {
    const headers = { [name]: '203.0.113.1', 'X-Forwarded-For': '198.51.100.7' };
    const configured = { clientIpHeader: name.toLowerCase() };
    expect(behind(headers).address).toBe('198.51.100.7');
    expect(behind(headers, configured)).toMatchObject({ address: '203.0.113.1', header: name.toLowerCase() });
    expect(find({ ...configured, trustedProxies: ['10.0.0.0/8'] }, '198.51.100.9', headers).address).toBe(
      '198.51.100.9',
    );
  });

  test.each([
    ['missing', {}],
    ['garbage', { 'CF-Connecting-IP': 'not an address' }],
    ['a list', { 'CF-Connecting-IP': '203.0.113.1, 203.0.113.2' }],
    ['sent twice', { 'CF-Connecting-IP': ['203.0.113.1', '203.0.113.2'] }],
  ])('%s: the chain of X-Forwarded-For decides, and never Forwarded', (_name, headers) => {
    const configured = { clientIpHeader: 'cf-connecting-ip' };
    expect(behind({ ...headers, 'X-Forwarded-For': '1.1.1.1, 198.51.100.7' }, configured)).toMatchObject({
      address: '198.51.100.7',
      header: 'x-forwarded-for',
    });
    expect(behind({ ...headers, Forwarded: 'for=1.1.1.1' }, configured).address).toBe(PROXY);
  });

  test.each([
    ['198.51.100.10:46532', '198.51.100.10'],
    ['2001:db8:1:2:3:4:5:6:46532', '2001:db8:1:2:3:4:5:6'],
    ['[2001:db8::6]:46532', '2001:db8::6'],
  ])('CloudFront adds the port: %s', (value, address) => {
    const configured = { clientIpHeader: 'cloudfront-viewer-address' };
    expect(behind({ 'CloudFront-Viewer-Address': value }, configured).address).toBe(address);
  });
});
