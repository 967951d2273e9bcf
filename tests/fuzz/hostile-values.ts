import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';

// Generators for parts of random requests. They generate JSON as text, because JSON text can contain what a JavaScript object cannot: numbers of
// any size, and the same key twice.

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 10 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }).map((n) => 'x'.repeat([127, 257, 4_097, 70_000][n] ?? 0)) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[
        '',
        ' ',
        '\u0000',
        '\ud800',
        '\udfff\ud800',
        '\u2028',
        '\u202e',
        '\ufeff',
        '__proto__',
        'constructor',
        '{{7*7}}',
        "'; DROP TABLE records; --",
      ],
      ...[
        'https://[::1',
        'http://a:b@c:99999/%',
        '//',
        'javascript:alert(1)',
        'http://xn--/',
        '%E0%A4%A',
        '\r\nX-A: b',
        '../../etc/passwd',
      ],
      ...[
        '999.999.999.999',
        '::ffff:1.2.3.4',
        '2024-02-30',
        '+275760-09-13T00:00:00.001Z',
        '-1',
        '1e400',
        'NaN',
        'null',
      ],
    ),
  },
);

const NUMBERS =
  '0 -0 1e400 -1e400 1e-400 9007199254740993 -9223372036854775809 18446744073709551616 0.1 1E+2 123456789012345678901234567890';
const number = fc.oneof(
  fc.double().map((value) => JSON.stringify(value)),
  fc.maxSafeInteger().map(String),
  fc.constantFrom(...NUMBERS.split(' ')),
);

/** The text of a JSON value. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text.map((value) => JSON.stringify(value)),
    number,
    fc.constantFrom('true', 'false', 'null', '{}', '[]', '""'),
    fc.array(tie('value'), { maxLength: 5 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(text, tie('value')), { maxLength: 5 })
      .map((pairs) => `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`),
    fc.constantFrom(10, 1_000, 30_000).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
    fc.constantFrom(10, 1_000, 10_000).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
    fc
      .constantFrom(201, 5_000)
      .map((count) => `{${Array.from({ length: count }, (_, n) => `"k${n}":${n}`).join(',')}}`),
  ),
})).value;

/** Generates a body that is nearly valid: one to three fields have another value, are missing, occur twice, or are not in the template. */
export function nearly(template: Readonly<Record<string, unknown>>): fc.Arbitrary<string> {
  const names = Object.keys(template);
  const fields = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(template[name])}`);
  const change = fc.tuple(
    fc.nat(names.length - 1),
    jsonText,
    fc.constantFrom('replace', 'remove', 'twice', 'other'),
    text,
  );
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const changed = [...fields];
    for (const [index, value, how, other] of changes) {
      const field = `${JSON.stringify(names[index])}:${value}`;
      if (how === 'replace') changed[index] = field;
      else if (how === 'remove') changed[index] = '';
      else changed.push(how === 'twice' ? field : `${JSON.stringify(other)}:${value}`);
    }
    return `{${changed.filter((one) => one !== '').join(',')}}`;
  });
}

const COMPRESS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
};

/** The bytes of a body, with a header `content-encoding` that can be wrong, or without one. */
export function bodyOf(
  json: fc.Arbitrary<string>,
): fc.Arbitrary<{ readonly body: Buffer; readonly headers: Record<string, string> }> {
  const bytes = fc.oneof(
    { weight: 8, arbitrary: json.map((one) => Buffer.from(one)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((one) => Buffer.from(one)) },
    {
      weight: 1,
      arbitrary: fc.tuple(json, fc.nat(), fc.nat(255)).map(([one, at, byte]) => flipped(Buffer.from(one), at, byte)),
    },
    { weight: 1, arbitrary: json.map((one) => Buffer.from(one).subarray(0, one.length >> 1)) },
    { weight: 1, arbitrary: json.map((one) => Buffer.from(`\ufeff${one}`, 'utf16le')) },
  );
  const packed = fc.constantFrom('', '', '', 'gzip', 'br', 'deflate', 'gzip of', 'zstd', 'identity', 'gzip, gzip');
  return fc.tuple(bytes, packed).map(([body, encoding]) => {
    if (encoding === '') return { body, headers: {} };
    if (encoding === 'gzip of')
      return { body: gzipSync(body).subarray(0, 15), headers: { 'content-encoding': 'gzip' } };
    const compress = COMPRESS[encoding];
    return { body: compress?.(body) ?? body, headers: { 'content-encoding': encoding } };
  });
}

function flipped(bytes: Buffer, at: number, byte: number): Buffer {
  if (bytes.length > 0) bytes[at % bytes.length] = byte;
  return bytes;
}

const NAMES =
  'content-type accept accept-encoding authorization cookie origin referer user-agent x-forwarded-for x-forwarded-host forwarded x-real-ip cf-connecting-ip ' +
  'idempotency-key expect range if-none-match sec-fetch-site sec-ch-ua sec-ch-ua-platform last-event-id upgrade te';
const headerValue = fc.oneof(
  fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
    maxLength: 60,
  }),
  fc.constantFrom(
    'application/json',
    'application/json; charset=utf-16',
    '*/*',
    'gzip;q=nan',
    'Bearer',
    'Bearer  x',
    'weir_session=a.b.c',
    'bytes=0-',
    '"',
    'for="[::1',
    '1.2.3.4, ::1, x',
  ),
  fc.constantFrom(300, 3_000).map((length) => 'v'.repeat(length)),
);
export const headers: fc.Arbitrary<Record<string, string>> = fc.dictionary(
  fc.constantFrom(...NAMES.split(' ')),
  headerValue,
  { maxKeys: 4 },
);

/** A part of a path or a value of a query parameter. */
export const word: fc.Arbitrary<string> = text
  .filter((one) => one.length < 300)
  .map((one) => encodeURIComponent(one.toWellFormed()));
