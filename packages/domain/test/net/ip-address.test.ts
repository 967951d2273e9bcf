import { normalizeIp, visitorNetwork } from '../../src/net/ip-address.ts';

describe('IP addresses', () => {
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
  ])('normalizes %j to %j', (text, address) => {
    expect(normalizeIp(text)).toBe(address);
  });

  it('groups IPv6 addresses by /64 network', () => {
    expect(visitorNetwork('2001:db8:1:2:3::4')).toBe('2001:db8:1:2::/64');
    expect(visitorNetwork('2001:db8::1')).toBe('2001:db8:0:0::/64');
    expect(visitorNetwork('203.0.113.1')).toBe('203.0.113.1');
  });
});
