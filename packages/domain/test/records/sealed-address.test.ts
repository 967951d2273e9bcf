import { createHash, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { normalizeIp } from '../../src/net/ip-address.ts';
import { createOpenAddress, createSealAddress, isSealedAddress } from '../../src/records/sealed-address.ts';

const SALT = createHash('sha256').update('a day').digest('hex');
const OTHER_SALT = createHash('sha256').update('another day').digest('hex');

const ipv6Of = (groups: readonly number[]) => normalizeIp(groups.map((group) => group.toString(16)).join(':'));
const ADDRESS = fc.oneof(
  fc.ipV4(),
  fc.ipV6().map(normalizeIp),
  // IPv6 addresses with runs of zero groups at each position.
  fc.array(fc.constantFrom(0, 0, 1, 0xffff, 0x2001), { minLength: 8, maxLength: 8 }).map(ipv6Of),
);

test('a sealed address is opened with the same spelling', () => {
  const seal = createSealAddress(SALT, randomBytes);
  const open = createOpenAddress();
  fc.assert(
    fc.property(ADDRESS, (ip) => {
      const sealed = seal(ip);
      expect(isSealedAddress(sealed)).toBe(true);
      expect(sealed).not.toContain(ip);
      expect(open(sealed, SALT)).toBe(ip);
    }),
    { numRuns: 2_000 },
  );
});

test.each(['0.0.0.0', '255.255.255.255', '203.0.113.7', '::', '::1', '2001:db8::', 'ffff::', '2001:db8:1:2:3:4:5:6'])(
  'the address %s is sealed and opened',
  (ip) => expect(createOpenAddress()(createSealAddress(SALT, randomBytes)(ip), SALT)).toBe(ip),
);

test.each([
  '',
  'unknown',
  '1.2.3',
  '1.2.3.4.5',
  '1.2.3.256',
  '1..2.3',
  '1.2.3.',
  '1:2',
  '1::2::3',
  '::12345',
  '::g',
  ':',
])('a text that is not an address gives an empty text: %j', (text) =>
  expect(createSealAddress(SALT, randomBytes)(text)).toBe(''),
);

test('no block of the keystream is used twice: nonce and counter together are unique, also over several sealers', () => {
  const used = new Set<string>();
  const count = 5_000;
  const open = createOpenAddress();
  for (const seal of [createSealAddress(SALT, randomBytes), createSealAddress(SALT, randomBytes)]) {
    for (let i = 0; i < count; i++) {
      const sealed = seal('203.0.113.7');
      used.add(sealed.slice(0, 27));
      expect(open(sealed, SALT)).toBe('203.0.113.7');
    }
  }
  expect(used.size).toBe(2 * count);
});

test('the same address never has the same ciphertext', () => {
  const seal = createSealAddress(SALT, randomBytes);
  const ciphertexts = Array.from({ length: 1_000 }, () => seal('2001:db8::7').slice(27));
  expect(new Set(ciphertexts).size).toBe(1_000);
});

test('an address cannot be opened without the salt that it was sealed with', () => {
  const sealed = createSealAddress(SALT, randomBytes)('203.0.113.7');
  const open = createOpenAddress();
  expect(open(sealed, SALT)).toBe('203.0.113.7');
  // The line above has decrypted the address. A cache must not return it to a caller without the salt.
  expect(open(sealed, undefined)).toBe('');
  expect(open(sealed, OTHER_SALT)).toBe('');
});

test('addresses of many sealers are opened in any order', () => {
  const sealers = Array.from({ length: 300 }, () => createSealAddress(SALT, randomBytes));
  const sealed = Array.from({ length: 3_000 }, (_, i) => sealers[(i * 7) % 300]?.(`10.0.${i >> 8}.${i & 255}`) ?? '');
  const open = createOpenAddress();
  for (const [i, text] of sealed.entries()) expect(open(text, SALT)).toBe(`10.0.${i >> 8}.${i & 255}`);
});

test('a text in the form of a sealed address is opened as an address or as an empty text', () => {
  const seal = createSealAddress(SALT, randomBytes);
  const open = createOpenAddress();
  const character = fc.constantFrom('A', 'q', '9', '-', '_', '%', 'é', '\u{1F600}', '\0', '=');
  fc.assert(
    fc.property(fc.constantFrom('203.0.113.7', '2001:db8::7'), fc.nat(50), character, (ip, at, replacement) => {
      const sealed = seal(ip);
      const forged = `${sealed.slice(0, at)}${replacement}${sealed.slice(at + 1)}`;
      if (!isSealedAddress(forged)) return;
      const opened = open(forged, SALT);
      expect(opened === '' || isIP(opened) !== 0).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test.each(['', '1', '203.0.113.7', '2'.repeat(33), '1'.repeat(34), '1'.repeat(52)])(
  '%j is not a sealed address',
  (text) => {
    expect(isSealedAddress(text)).toBe(false);
  },
);
