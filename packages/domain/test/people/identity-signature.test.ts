import { createHmac } from 'node:crypto';
import { newIdentitySecret, proveIdentity } from '../../src/people/identity-signature.ts';

const secret = newIdentitySecret((count) => new Uint8Array(count).fill(7));
const optional = { secret, secretCreatedAt: 0, required: false };
const sign = (userId: string, key = secret) => createHmac('sha256', key).update(userId).digest('hex');

test('a secret is a prefix and 256 random bits', () => {
  expect(secret).toMatch(/^wis_[\w-]{43}$/);
});

test.each(['u', 'ü😀', 'a b', 'x'.repeat(255)])('HMAC-SHA256(secret, %j) in hex is a valid signature', (userId) => {
  expect(proveIdentity(optional, userId, sign(userId))).toBe('signed');
  expect(proveIdentity(optional, userId, sign(userId).toUpperCase())).toBe('signed');
  expect(proveIdentity({ ...optional, required: true }, userId, sign(userId))).toBe('signed');
});

test('the HMAC is the same as in other languages', () => {
  const known = { ...optional, secret: 'wis_test' };
  expect(proveIdentity(known, '42', '5b2f8a4cf89e7dcd6ec4800ad0e4234f1b1bba7f42b10c50373e09ce54233b08')).toBe('signed');
});

test.each([
  ['no signature', ''],
  ['the signature of another user', sign('v')],
  ['a signature with another secret', sign('u', `${secret}x`)],
  ['too short', sign('u').slice(1)],
  ['too long', `${sign('u')}0`],
  ['not hex', `${sign('u').slice(0, 63)}g`],
  ['with a line break at the end', `${sign('u')}\n`],
])('an invalid signature: %s', (_, signature) => {
  expect(proveIdentity(optional, 'u', signature)).toBeUndefined();
  expect(proveIdentity({ ...optional, required: true }, 'u', signature)).toBe('refused');
  expect(proveIdentity(undefined, 'u', signature)).toBeUndefined();
});
