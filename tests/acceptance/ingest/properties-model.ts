import fc from 'fast-check';

// Generators for the JSON text of properties that are difficult to store: numbers in unusual notation, keys with dots, control
// characters, and unpaired surrogates.

const key = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('a', 'b', 'c', 'a.b', 'a.c', 'b.a', '', '.', 'a.', '__proto__', 'constructor'),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('a\0', '\0', '\u0001', 'a\\b', '"', '`a`', 'a:b', ':`Int64`', '^a', 'a[]', 'a%2Eb', ' '),
  },
);
const numberToken = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => String(number)),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.integer().map(String),
  fc.constantFrom('1e400', '-1e400', '-0', '-0.0', '1.0', '1e2', '1E+20', '9007199254740993', '18446744073709551615'),
  fc.constantFrom(
    '18446744073709551616',
    '-9223372036854775808',
    '0.30000000000000004',
    '5e-324',
    '1e23',
    '123456789012345670000',
  ),
);
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom(
    '',
    '1',
    'true',
    'null',
    '2026-01-01',
    '2026-01-01 00:00:00',
    '\ud800',
    'x\udc00',
    '\0',
    '\u0001\u00011',
  ),
);
const scalar = fc.oneof(
  numberToken,
  text.map((value) => JSON.stringify(value)),
  fc.constantFrom('null', 'true', 'false', '{}', '[]', '[null]'),
);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'json' },
    { weight: 5, arbitrary: scalar },
    {
      weight: 2,
      arbitrary: fc.array(tie('value'), { maxLength: 4, depthIdentifier: 'json' }).map((all) => `[${all.join()}]`),
    },
    { weight: 2, arbitrary: objectOf(tie('value'), 3) },
  ),
}));
function objectOf(values: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(key, values), { maxLength })
    .map((pairs) => `{${pairs.map(([name, one]) => `${JSON.stringify(name)}:${one}`).join()}}`);
}
export const propertiesText = objectOf(value, 6);

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Lists the values of a JSON text with their paths. Two texts have the same list if they have the same values. A dot in a key
 * counts as a step into an object. null and an empty object are left out, except as elements of an array. Of two equal keys, the last
 * one counts. Whole numbers of up to 64 bits are compared by their digits, other numbers as 64-bit floats.
 */
export function valuesOf(json: string): readonly string[] {
  const tagged = json.replace(TOKEN, (token) => (token.startsWith('"') ? `"s${token.slice(1)}` : `"n${token}"`));
  return leaves(JSON.parse(tagged), '').toSorted();
}

function leaves(object: object, prefix: string): string[] {
  return Object.entries(object).flatMap(([tagged, one]) => {
    const path = prefix + tagged.slice(1);
    if (one === null) return [];
    return typeof one === 'object' && !Array.isArray(one)
      ? leaves(one, `${path}.`)
      : [`${JSON.stringify(path)}=${canonical(one)}`];
  });
}

function canonical(one: unknown): string {
  if (Array.isArray(one)) return `[${one.map(canonical).join()}]`;
  if (typeof one === 'object' && one !== null) return `{${leaves(one, '').toSorted().join()}}`;
  if (typeof one !== 'string') return String(one);
  return one.startsWith('s') ? JSON.stringify(one.slice(1)) : numberOf(one.slice(1));
}

const DIGITS = /^-?\d+$/;

function numberOf(token: string): string {
  const digits = DIGITS.test(token) ? token : JSON.stringify(Number(token));
  const number = Number(token);
  if (!DIGITS.test(digits) || !Number.isFinite(number)) return String(number);
  const isInteger = BigInt(digits) >= -(2n ** 63n) && BigInt(digits) < 2n ** 64n;
  return !isInteger || BigInt(number) === BigInt(digits) ? String(number) : digits;
}
