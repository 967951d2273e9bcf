import { randomBytes, randomFillSync } from 'node:crypto';
import { validate, version } from 'uuid';
import { bearerToken, hashApiKey, isSameHash, newApiKey } from '../src/api-key.ts';
import { bodyTextOf } from '../src/body-text.ts';
import { createEventIds } from '../src/event-id.ts';
import { normalizeIp, visitorNetwork } from '../src/ip-address.ts';
import { cookielessPartitionKey, partitionKey } from '../src/partition-key.ts';
import { profileId } from '../src/profile-id.ts';
import { encodeRawRecord } from '../src/raw-record.ts';

describe('event IDs: UUIDv7 that only rise', () => {
  it('also within a millisecond, beyond its counter, and when the clock goes back', () => {
    let now = 1_764_000_000_123;
    const next = createEventIds(() => now, randomFillSync);
    const ids = Array.from({ length: 10_000 }, next);
    now -= 5000;
    ids.push(next());
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(Number.parseInt(`${ids[0]?.slice(0, 8)}${ids[0]?.slice(9, 13)}`, 16)).toBe(1_764_000_000_123);
  });
});

it('4.2 profileId: the same site and user always give the same ID (UUIDv5)', () => {
  expect(profileId('site', 'user')).toBe(profileId('site', 'user'));
  expect(version(profileId('site', 'user'))).toBe(5);
  expect(profileId('a', 'bc')).not.toBe(profileId('ab', 'c'));
  // They must not change: tables hold them.
  expect(profileId('demo', 'ada')).toBe('b9bf200a-0397-5ec2-a9c8-d6c08114a251');
  expect(profileId('demo', 'ä😀')).toBe('10097f1b-48b5-5bd1-891a-d41595b49bc5');
  expect(profileId('demo', 'half a pair \ud83d')).toBe(profileId('demo', 'half a pair \ufffd'));
});

describe('5 keys', () => {
  it('are compared as hashes; Bearer is read in any case', () => {
    const key = newApiKey(randomBytes);
    expect(key).toMatch(/^wk_[A-Za-z0-9_-]{43}$/);
    expect(hashApiKey('wk_x')).toMatch(/^[0-9a-f]{64}$/);
    expect(isSameHash(hashApiKey(key), hashApiKey(key))).toBe(true);
    expect(isSameHash(hashApiKey(key), hashApiKey('wk_x'))).toBe(false);
    expect(bearerToken(`bEARER  ${key} `)).toBe(key);
    for (const wrong of [
      undefined,
      key,
      `Basic ${key}`,
      'Bearer',
      'Bearer ',
      'Bearer a b',
      `Bearer ${'x'.repeat(400)}`,
    ]) {
      expect(bearerToken(wrong)).toBeUndefined();
    }
  });
});

describe('addresses', () => {
  it.each([
    ['203.0.113.1', '203.0.113.1'],
    ['::ffff:203.0.113.1', '203.0.113.1'],
    ['::FFFF:cb00:7101', '203.0.113.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['203.0.113', ''],
    ['0x7f.1', ''],
    ['unknown', ''],
    ['', ''],
  ])('%j is %j', (text, address) => {
    expect(normalizeIp(text)).toBe(address);
  });

  it('IPv6 visitors count per /64', () => {
    expect(visitorNetwork('2001:db8:1:2:3::4')).toBe('2001:db8:1:2::/64');
    expect(visitorNetwork('2001:db8::1')).toBe('2001:db8:0:0::/64');
    expect(visitorNetwork('203.0.113.1')).toBe('203.0.113.1');
  });
});

describe('design: partition key', () => {
  const owner = { siteId: 's', eventId: 'e', userId: '', visitorId: '', idempotencyKey: '' };
  it('the user of an identify or of a bare user_id; else the visitor; else the idempotency key; else the event', () => {
    expect(partitionKey({ ...owner, userId: 'u', visitorId: 'v' }, true)).toBe('s/u/u');
    expect(partitionKey({ ...owner, userId: 'u' }, false)).toBe('s/u/u');
    expect(partitionKey({ ...owner, userId: 'u', visitorId: 'v' }, false)).toBe('s/v/v');
    expect(partitionKey({ ...owner, idempotencyKey: 'k' }, false)).toBe('s/k/k');
    expect(partitionKey(owner, false)).toBe('s/e/e');
  });

  it('stays short, and the same', () => {
    const long = { ...owner, userId: '😀'.repeat(256) };
    expect(partitionKey(long, false)).toBe(partitionKey(long, true));
    expect(partitionKey(long, false).length).toBeLessThan(64);
    expect(cookielessPartitionKey('s', '2001:db8::1', 'ua')).toBe(cookielessPartitionKey('s', '2001:db8::2', 'ua'));
    expect(cookielessPartitionKey('s', '2001:db8::1', 'ua')).not.toBe(cookielessPartitionKey('s', '2001:db8::1', 'b'));
  });
});

it("a raw record holds the request's own text, whatever its head says", () => {
  const text = '{ "name" : "x" , "body":{"a":1} }';
  const head = { eventId: 'e', kind: 'event', siteId: 's', receivedAt: 1, ip: '', acceptLanguage: '' } as const;
  expect(bodyTextOf(encodeRawRecord({ ...head, userAgent: 'a,"body":{}\\,' }, text))).toBe(text);
});
