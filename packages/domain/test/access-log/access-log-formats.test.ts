import { type AccessLogFormat, readAccessLogLine } from '../../src/access-log/access-log.ts';
import { detectAccessLogFormat } from '../../src/access-log/detect-format.ts';

const TAIL = '[17/May/2015:10:05:03 +0000] "GET /a?b=1 HTTP/1.1" 200 203 "-" "UA/1.0"';
const read = (head: string, format?: AccessLogFormat) =>
  readAccessLogLine(`${head} ${TAIL}`, { format, domain: 'site.example' });
const hit = (url: string, ip: string) => ({ kind: 'hit', hit: { url, ip } });

describe('formats with virtual hosts: the client IP and the URL with the host are read', () => {
  test.each([
    ['vhost_combined', 'www.example.com:80 192.0.2.7 - -', 'https://www.example.com/a?b=1', '192.0.2.7'],
    ['vhost_combined', 'WWW.example.com.:443 2001:DB8::1 - frank', 'https://www.example.com/a?b=1', '2001:db8::1'],
    ['vhost_combined', '127.0.1.1:80 192.0.2.7 - -', 'https://127.0.1.1/a?b=1', '192.0.2.7'],
    ['vhost_combined', '[2001:db8::2]:80 192.0.2.7 - -', 'https://[2001:db8::2]/a?b=1', '192.0.2.7'],
    ['vhost_combined', 'example.com:8080 client.example.net - -', 'https://example.com/a?b=1', ''],
    ['vhost_combined', '_:80 192.0.2.7 - -', 'https://site.example/a?b=1', '192.0.2.7'],
    ['vhost', 'www.example.com 192.0.2.7 - -', 'https://www.example.com/a?b=1', '192.0.2.7'],
    ['vhost', 'www.example.com 192.0.2.7 - John Doe', 'https://www.example.com/a?b=1', '192.0.2.7'],
    ['vhost', 'localhost localhost - -', 'https://localhost/a?b=1', ''],
    ['ovh', '192.0.2.7 www.example.com -', 'https://www.example.com/a?b=1', '192.0.2.7'],
    ['ovh', 'client.example.net www.example.com frank', 'https://www.example.com/a?b=1', ''],
    ['ovh', '192.0.2.7 www.example.com - -', 'https://www.example.com/a?b=1', '192.0.2.7'],
  ] as const)('%s: %s', (format, head, url, ip) => {
    expect(read(head, format)).toMatchObject(hit(url, ip));
  });

  test.each([
    ['combined', 'www.example.com:80 192.0.2.7 - -', /^begins with a virtual host and a client/],
    ['combined', 'www.example.com 192.0.2.7 - -', /formats vhost_combined and vhost/],
    ['common', 'www.example.com:80 192.0.2.7 - -', /virtual host/],
    ['combined', '192.0.2.7 www.example.com -', /the format ovh/],
    ['ovh', 'www.example.com:80 192.0.2.7 - -', /vhost_combined/],
    ['vhost_combined', '192.0.2.7 www.example.com -', /ovh/],
    ['vhost_combined', 'www.example.com:80 - - -', /^the client is neither/],
    ['vhost_combined', '192.0.2.7 - -', /^the client is neither/],
    ['vhost', 'a/b 192.0.2.7 - -', /^the virtual host is not a host name/],
  ] as const)('%s: %s is a bad line', (format, head, reason) => {
    expect(read(head, format)).toEqual({ kind: 'bad', reason: expect.stringMatching(reason) });
  });
});

describe('the format of a file is detected from its first lines', () => {
  const detect = (...heads: readonly string[]) => detectAccessLogFormat(heads.map((head) => `${head} ${TAIL}`));
  test.each([
    ['vhost_combined', ['example.com:80 192.0.2.7 - -', 'example.com:80 2001:db8::1 - frank']],
    ['vhost', ['example.com 192.0.2.7 - -', 'example.com localhost - -', 'example.org 192.0.2.8 - -']],
    ['ovh', ['192.0.2.7 www.example.com -', '192.0.2.8 www.example.com frank']],
    [undefined, ['192.0.2.7 - -', '192.0.2.7 - john.doe', 'client.example.net - -', '192.0.2.7 frank -']],
    [undefined, ['192.0.2.7, 198.51.100.1 - -', '192.0.2.7:1234 - -']],
    [undefined, ['{', 'nonsense']],
    [undefined, []],
  ])('%s', (format, heads) => {
    expect(detect(...heads)).toBe(format);
  });
});
