import fc from 'fast-check';
import { encodeRawRecord, type RawRecordHead } from '../../src/records/raw-record.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '"', '\\', '\u2028', '\ud800', '\0', 'Chrome/129'),
);

test('the envelope is the JSON of its fields', () => {
  const common = fc.record({
    eventId: text,
    kind: fc.constantFrom('collect', 'event', 'identify', 'import'),
    siteId: text,
    receivedAt: fc.integer({ min: 0, max: 4e12 }),
    sealedIp: text,
    userAgent: text,
    acceptLanguage: text,
  });
  const more = fc.constantFrom(
    {},
    { clientHints: { 'sec-ch-ua': '"Chromium";v="129"' } },
    { idempotencyKey: 'order-1', identityProof: 'signed' },
  );
  fc.assert(
    fc.property(common, more, (fields, others) => {
      const head = { ...fields, ...others } as RawRecordHead;
      const written = encodeRawRecord(head, '{"name":"signup"}').toString();
      expect(JSON.parse(written)).toEqual({ ...head, body: { name: 'signup' } });
    }),
  );
});
