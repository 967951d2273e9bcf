import { visitorNetwork } from '@weir/domain/net/ip-address';
import { createProxyMisconfigurationDetector } from '../src/admission/proxy-misconfiguration-detector.ts';

function counted(site: string, addresses: readonly string[], networks = createProxyMisconfigurationDetector()) {
  for (const ip of addresses) networks.count(site, ip, visitorNetwork(ip));
  return networks;
}
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const elsewhere = (i: number) => `${20 + (i % 150)}.${(i * 7) % 256}.${(i * 13) % 256}.9`;

describe('a site that gets most hits from one network is reported', () => {
  test.each([
    ['an IPv4 /24', (i: number) => `203.0.113.${i % 256}`, false],
    ['an IPv6 /48', (i: number) => `2001:db8:1:${(i % 65_536).toString(16)}::${i}`, false],
    [
      'private networks, whichever',
      (i: number) => ['10.0.0.7', '192.168.4.4', '127.0.0.1', 'fd00::1'][i % 4] ?? '',
      true,
    ],
  ])('%s', (_name, make, isPrivate) => {
    const mixed = times(300, (i) => (i % 3 === 0 ? elsewhere(i) : make(i)));
    const [found, ...others] = counted('shop', mixed).singleNetworkSites();
    expect(others).toEqual([]);
    expect(found).toMatchObject({ siteId: 'shop', hits: 300, isPrivate });
    expect(found?.percent).toBeGreaterThanOrEqual(55);
    expect(found?.percent).toBeLessThanOrEqual(67);
  });

  test('other sites are not reported', () => {
    expect(counted('wide', times(5_000, elsewhere)).singleNetworkSites()).toEqual([]);
    expect(
      counted(
        'half',
        times(4_000, (i) => (i % 5 < 2 ? '203.0.113.1' : elsewhere(i))),
      ).singleNetworkSites(),
    ).toEqual([]);
  });

  test('a site with fewer than 100 hits is not reported', () => {
    const networks = counted(
      'small',
      times(99, () => '203.0.113.1'),
    );
    expect(networks.singleNetworkSites()).toEqual([]);
    expect(counted('small', ['203.0.113.1'], networks).singleNetworkSites()).toHaveLength(1);
  });

  test('a site is no longer reported when hits come from other networks', () => {
    const networks = counted(
      'corrected',
      times(3_000, () => '10.0.0.1'),
    );
    expect(networks.singleNetworkSites()).toMatchObject([{ percent: 100 }]);
    expect(counted('corrected', times(4_000, elsewhere), networks).singleNetworkSites()).toEqual([]);
  });
});
