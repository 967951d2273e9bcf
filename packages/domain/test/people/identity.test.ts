import { FieldError } from '../../src/ingest/field-error.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { type Identity, readBrowserIdentity, readIdentity } from '../../src/people/identity.ts';

const base = { visitor_id: 'v', user_id: 'u' };
const refusal = (body: JsonObject) => (readIdentity(body) as FieldError).message;
function read(body: JsonObject, text?: string): Identity {
  const identity = readIdentity(body, text === undefined ? undefined : () => text);
  if (identity instanceof FieldError) throw new Error(identity.message);
  return identity;
}

describe('fields', () => {
  it('reads every field and alias; null and empty mean not sent', () => {
    expect(
      read({ visitorId: 'v', userId: 'u', email: '', name: null, paymentCustomerId: 'cus_1', siteId: 's' }),
    ).toEqual({
      visitorId: 'v',
      userId: 'u',
      email: '',
      name: '',
      image: '',
      paymentCustomerId: 'cus_1',
      siteId: 's',
      traits: {},
      droppedTraits: 0,
      invalidTraits: 0,
      signature: '',
    });
  });

  it.each([
    [{}, 'visitor_id is required'],
    [{ visitor_id: 'v', userId: '' }, 'user_id is required'],
    [{ visitor_id: 'v', userId: 'u'.repeat(256) }, 'userId must be at most 255 chars'],
    [{ ...base, image: 'ftp://a/b' }, 'image must be an http or https URL'],
    [{ ...base, image: 'javascript:alert(1)' }, 'image must be an http or https URL'],
    [{ visitor_id: ' \n', user_id: 'u' }, 'visitor_id is required'],
    [{ ...base, image: 'https://a/"' }, 'image must be an http or https URL'],
    [{ ...base, image: 'https://a/\u0007' }, 'image must be an http or https URL'],
    [{ ...base, image: 'https://a/\nb' }, 'image must be an http or https URL'],
    [{ ...base, image: 'https://a/ b' }, 'image must be an http or https URL'],
    [{ ...base, image: 'https://a/<script>' }, 'image must be an http or https URL'],
    [{ ...base, image: `https://a/${'../a/'.repeat(100)}` }, 'image must be at most 500 chars'],
    [{ ...base, image: 'http://' }, 'image must be an http or https URL'],
    [{ ...base, image: 'https:a.example' }, 'image must be an http or https URL'],
    [{ ...base, image: 'https:///a.example' }, 'image must be an http or https URL'],
    [
      { ...base, paymentCustomerId: 'a b' },
      'invalid customer ID: paymentCustomerId must match ^[A-Za-z0-9_.:-]{1,255}$',
    ],
    [{ ...base, site_id: 5 }, 'site_id must be a string'],
  ])('%j: %s', (body, message) => {
    expect(refusal(body)).toBe(message);
  });
});

describe('image: "Avatar URL; must be http or https. Up to 500 chars"', () => {
  const longest = `https://a.example/'${'x'.repeat(481)}`;
  it.each([
    ["https://ui-avatars.com/api/?name=O'Brien", 'https://ui-avatars.com/api/?name=O%27Brien'],
    [longest, longest.replace("'", '%27')],
    ['https://Example.com/a.png', 'https://Example.com/a.png'],
    ['HTTPS://example.com:443?s=80', 'HTTPS://example.com:443?s=80'],
    ['https://example.com/Jürgen.png', 'https://example.com/Jürgen.png'],
  ])('%s is stored as %s', (image, stored) => {
    const base = { visitor_id: 'v', user_id: 'u', image };
    expect(readIdentity(base)).toMatchObject({ image: stored });
    expect(readIdentity(base, undefined, 'record')).toMatchObject({ image: stored });
    expect(readBrowserIdentity(base)).toMatchObject({ image: stored });
  });
});

describe('traits: "Up to 25 extra traits; any beyond the first 25 are dropped."', () => {
  it.each([
    [{ ...base, Plan: 1 }, 'trait "Plan" must have a key that matches ^[a-z0-9_-]{1,64}$'],
    [{ ...base, plan: {} }, 'trait "plan" must be a string, a finite number, a boolean or null'],
    [{ ...base, plan: 'x'.repeat(1001) }, 'trait "plan" must be at most 1000 chars'],
    [{ ...base, '': 1 }, 'trait "" must have a key that matches ^[a-z0-9_-]{1,64}$'],
  ])('%j: %s', (body, message) => {
    expect(refusal(body as JsonObject)).toBe(message);
  });

  it('keeps the first 25 in body order, integer-like keys too', () => {
    const keys = ['z', '10', ...Array.from({ length: 23 }, (_, i) => `t${i}`), '1', '0', 'last'];
    const text = `{"visitor_id":"v",${keys.map((key) => `"${key}":"{\\"0\\":[1,2]}"`).join(' , ')},"user_id":"u"}`;
    const { traits, droppedTraits } = read(JSON.parse(text), text);
    expect(Object.keys(traits).toSorted()).toEqual(keys.slice(0, 25).toSorted());
    expect(droppedTraits).toBe(3);
  });

  it('stores a trait that is an empty string as an empty string', () => {
    expect(read({ ...base, plan: '' }).traits).toEqual({ plan: '' });
    expect(readBrowserIdentity({ user_id: 'u', plan: '' })).toMatchObject({ traits: { plan: '' } });
  });

  it('does not validate traits beyond the first 25', () => {
    const first = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`t${i}`, null]));
    const { traits, droppedTraits } = read({ ...base, ...first, Plan: {}, nested: [] });
    expect([traits, droppedTraits]).toEqual([first, 2]);
  });

  it("leaves traits with an invalid key out of a browser's identity", () => {
    const sent = { user_id: 'u', firstName: 'A', plan: 'pro', '': 1 };
    expect(readBrowserIdentity(sent)).toMatchObject({ traits: { plan: 'pro' }, droppedTraits: 0, invalidTraits: 2 });
  });

  it('reads a record of an older Weir: an invalid image is left out, and an ID of white space is valid', () => {
    const stored = { visitor_id: ' ', user_id: '\t', image: 'https://a/"\n', name: 'N' };
    expect(readIdentity(stored, undefined, 'record')).toMatchObject({
      visitorId: ' ',
      userId: '\t',
      image: '',
      name: 'N',
    });
    expect(readBrowserIdentity(stored, undefined, 'record')).toMatchObject({ userId: '\t', image: '' });
  });

  it('reads the same IDs from a request and from its record, if one of two names has only white space', () => {
    const body = { visitor_id: ' ', visitorId: 'v', user_id: ' ', userId: 'u' };
    for (const source of ['request', 'record'] as const) {
      expect(readIdentity(body, undefined, source)).toMatchObject({ visitorId: 'v', userId: 'u' });
      expect(readBrowserIdentity(body, undefined, source)).toMatchObject({ userId: 'u' });
    }
  });

  it('a signature is a field in an identity from a browser, and a trait in one from a server', () => {
    const sent = { visitor_id: 'v', user_id: 'u', signature: 'ab' };
    expect(readBrowserIdentity(sent)).toMatchObject({ signature: 'ab', traits: {} });
    expect(readBrowserIdentity({ ...sent, signature: 5 })).toMatchObject({ message: 'signature must be a string' });
    expect(readIdentity(sent)).toMatchObject({ signature: '', traits: { signature: 'ab' } });
    // In records of older versions, `signature` was a trait with any value.
    expect(readBrowserIdentity({ ...sent, signature: 5 }, undefined, 'record')).toMatchObject({
      signature: '',
      traits: {},
    });
  });

  it('treats __proto__ and constructor as ordinary keys', () => {
    const { traits } = read(JSON.parse('{"visitor_id":"v","user_id":"u","__proto__":"p","constructor":null}'));
    expect(JSON.stringify(traits)).toBe('{"__proto__":"p","constructor":null}');
  });

  it('in an identity from a browser, keeps the first 25 in the order of that object, also in a deeply nested hit', () => {
    const keys = [...Array.from({ length: 25 }, (_, i) => `t${i}`), '0'];
    const identity = `{"user_id":"u",${keys.map((key) => `"${key}":1`).join(',')}}`;
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const text = `{"identity":["a","0"],"other":{"identity":{"x":1}},"deep":${deep},"identity":${identity},"t":["identity",{}]}`;
    const read = readBrowserIdentity(JSON.parse(identity), () => text) as Identity;
    expect(Object.keys(read.traits)).toEqual(keys.slice(0, 25));
    expect(read.droppedTraits).toBe(1);
  });
});
