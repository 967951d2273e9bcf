import { createHmac } from 'node:crypto';
import { newIdentitySecret, proveIdentity } from '../../src/people/identity-signature.ts';

const secret = newIdentitySecret((count) => new Uint8Array(count).fill(7));
const optional = { secret, secretCreatedAt: 0, required: false };
const sign = (userId: string, key = secret) => createHmac('sha256', key).update(userId).digest('hex');

test('a secret is 256 random bits behind a prefix', () => {
  expect(secret).toMatch(/^wis_[\w-]{43}$/);
});

test.each(['u', 'ü😀', 'a b', 'x'.repeat(255)])('signed: hex HMAC-SHA256(secret, %j)', (userId) => {
  expect(proveIdentity(optional, userId, sign(userId))).toBe('signed');
  expect(proveIdentity(optional, userId, sign(userId).toUpperCase())).toBe('signed');
  expect(proveIdentity({ ...optional, required: true }, userId, sign(userId))).toBe('signed');
});

test('the same HMAC as in other languages', () => {
  const known = { ...optional, secret: 'wis_test' };
  expect(proveIdentity(known, '42', '5b2f8a4cf89e7dcd6ec4800ad0e4234f1b1bba7f42b10c50373e09ce54233b08')).toBe('signed');
});

test.each([
  ['none', ''],
  ['of another user', sign('v')],
  ['with another secret', sign('u', `${secret}x`)],
  ['too short', sign('u').slice(1)],
  ['too long', `${sign('u')}0`],
  ['no hex', `${sign('u').slice(0, 63)}g`],
  ['a line break behind it', `${sign('u')}\n`],
])('a signature that is not valid: %s', (_, signature) => {
  expect(proveIdentity(optional, 'u', signature)).toBeUndefined();
  expect(proveIdentity({ ...optional, required: true }, 'u', signature)).toBe('refused');
  expect(proveIdentity(undefined, 'u', signature)).toBeUndefined();
});
