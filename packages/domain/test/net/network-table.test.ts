import ipaddr from 'ipaddr.js';
import { normalizeIp } from '../../src/net/ip-address.ts';
import { addressNumber, parseNetwork } from '../../src/net/network.ts';
import { compileNetworks } from '../../src/net/network-table.ts';

/** A random generator with a seed, so that every run uses the same networks. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const table = (...texts: string[]) =>
  compileNetworks(
    texts.map((text) => {
      const network = parseNetwork(text);
      if (network === undefined) throw new Error(`not a network: ${text}`);
      return [network, text] as const;
    }),
  );

describe('parseNetwork', () => {
  test.each([
    '',
    'x',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/8/8',
    '1..2.3',
  ])('"%s" is not a network', (text) => expect(parseNetwork(text)).toBeUndefined());
  test.each(['::/129', ':::', '2001:db8::/-1', '::ffff:1.2.3.4/95'])('"%s" is not a network', (text) =>
    expect(parseNetwork(text)).toBeUndefined(),
  );
  test('IPv4-mapped IPv6 is IPv4', () => {
    expect(parseNetwork('::ffff:10.9.8.7/104')).toEqual(parseNetwork('10.0.0.0/8'));
    expect(addressNumber('::ffff:0a09:0807')).toBe(addressNumber('10.9.8.7'));
  });
});

describe('IPv6 addresses are read in the same way as by ipaddr.js', () => {
  const texts = [
    '::',
    '::1',
    '1::',
    '2001:DB8::8:800:200c:417a',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::',
    '::2:3:4:5:6:7:8',
    'fe80::1%eth0',
  ];
  const dotted = ['::ffff:192.0.2.1', '1:2:3:4:5:6:192.0.2.33'];
  const wrong = [
    ':',
    ':::',
    '1:2',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '12345::',
    'g::',
    '1:2:3:4:5:6:7:8::',
    '::1:',
    ':1::',
    '1.2.3.4:5',
  ];
  test.each([...texts, ...dotted])('%s', (text) => {
    const bytes = ipaddr.process(text.replace(/%.*/, '')).toByteArray();
    expect(BigInt(addressNumber(text) ?? -1)).toBe(bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n));
  });
  test('the last part can be IPv4, which ipaddr.js supports only for some addresses', () => {
    expect(addressNumber('64:ff9b::192.0.2.33')).toBe(addressNumber('64:ff9b::c000:221'));
    expect(normalizeIp('64:ff9b::192.0.2.33')).toBe('64:ff9b::c000:221');
    expect(addressNumber('64:ff9b::192.0.2.333')).toBeUndefined();
  });
  test.each(wrong)('"%s" is not an address', (text) => expect(addressNumber(text)).toBeUndefined());
});

describe('the table finds the most specific network that contains an address', () => {
  test.each([
    ['10.1.2.3', '10.1.2.3'],
    ['10.1.2.4', '10.1.2.0/24'],
    ['10.1.3.0', '10.1.0.0/16'],
    ['10.1.255.255', '10.1.255.0/24'],
    ['10.2.0.0', '10.0.0.0/8'],
    ['9.255.255.255', undefined],
    ['11.0.0.0', undefined],
    ['255.255.255.255', '255.255.255.255'],
    ['2001:db8::1', '2001:db8::/48'],
    ['2001:db8:1::1', '2001:db8::/32'],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ffff::/16'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['', undefined],
    ['nonsense', undefined],
  ])('%s: %s', (ip, network) => {
    const networks = ['10.1.255.0/24', '10.0.0.0/8', '10.1.2.3', '10.1.0.0/16', '10.1.2.0/24', '255.255.255.255'];
    expect(table(...networks, '2001:db8::/32', '2001:db8::/48', 'ffff::/16')(ip)).toBe(network);
  });

  test('a network can be a whole address family, and the first of two equal networks counts', () => {
    expect(table('0.0.0.0/0')('203.0.113.1')).toBe('0.0.0.0/0');
    expect(table('0.0.0.0/0')('2001:db8::1')).toBeUndefined();
    expect(table('::/0')('2001:db8::1')).toBe('::/0');
    expect(table('10.0.0.0/8', '10.255.0.0/8')('10.1.1.1')).toBe('10.0.0.0/8');
  });
});

/** The lookup must stay fast with 10,000 rules, so it does not compare them one by one. The result must be that of such a comparison. */
test('a lookup in 10,000 nested networks has the same result as comparing them one by one with ipaddr.js', () => {
  const next = random(7);
  const made = new Set<string>();
  while (made.size < 10_000) {
    if (made.size % 4 === 0) {
      const parts = ['2001', 'db8', next(4), next(65_536).toString(16), next(65_536).toString(16)];
      made.add(`${parts.join(':')}::/${32 + next(97)}`);
    } else {
      made.add(`${10 + next(4)}.${next(256)}.${next(256)}.${next(256)}/${8 + next(25)}`);
    }
  }
  const texts = [...made];
  const find = table(...texts);
  const ranges = texts.map((text) => ({ text, range: ipaddr.parseCIDR(text) }));
  const oneByOne = (ip: string): number | undefined => {
    const address = ipaddr.parse(ip);
    let longest: number | undefined;
    for (const { range } of ranges) {
      if (range[0].kind() !== address.kind() || range[1] < (longest ?? 0)) continue;
      if ((address as ipaddr.IPv4).match(range as [ipaddr.IPv4, number])) longest = range[1];
    }
    return longest;
  };
  const asked = Array.from({ length: 60 }, (_, i) =>
    i % 4 === 0
      ? `2001:db8:${next(5)}:${next(65_536).toString(16)}::${next(9)}`
      : `${9 + next(6)}.${next(256)}.${next(256)}.${next(256)}`,
  );
  const prefixOf = (text: string | undefined) => (text === undefined ? undefined : Number(text.split('/')[1]));
  expect(asked.map((ip) => prefixOf(find(ip)))).toEqual(asked.map(oneByOne));
  expect(new Set(asked.map((ip) => find(ip) === undefined)).size).toBe(2);
});
