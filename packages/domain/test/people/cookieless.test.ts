import { createHash } from 'node:crypto';
import { cookielessVisitorId, utcDay } from '../../src/people/cookieless.ts';

const VISITOR = { siteId: 's', ip: '192.0.2.1', userAgent: 'UA', lineDay: '' };

test('the visitor ID is `c_` and the first 16 bytes of SHA-256(salt, site, IP, line day, user agent) in hex', () => {
  const digest = createHash('sha256').update('salt\0s\x00192.0.2.1\0\0UA').digest('hex');
  expect(cookielessVisitorId('salt', VISITOR)).toBe(`c_${digest.slice(0, 32)}`);
});

test.each([{ siteId: 't' }, { ip: '192.0.2.2' }, { userAgent: 'UB' }, { lineDay: '2015-05-17' }])(
  '%j is another visitor',
  (other) => {
    expect(cookielessVisitorId('salt', { ...VISITOR, ...other })).not.toBe(cookielessVisitorId('salt', VISITOR));
    expect(cookielessVisitorId('other', VISITOR)).not.toBe(cookielessVisitorId('salt', VISITOR));
  },
);

test('utcDay returns the same day as a Date, also in leap years', () => {
  for (let day = -20; day < 47_500; day += 1) {
    const ms = day * 86_400_000;
    const expected = new Date(ms).toISOString().slice(0, 10);
    if (utcDay(ms) !== expected || utcDay(ms + 86_399_999) !== expected) throw new Error(`${expected}: ${utcDay(ms)}`);
  }
  expect(utcDay(Date.UTC(2024, 1, 29, 23, 59, 59, 999))).toBe('2024-02-29');
});
