import { bodyTextOf } from '../../src/records/body-text.ts';
import { encodeRawRecord } from '../../src/records/raw-record.ts';

it('a raw record contains the request body byte for byte, also if a field of the envelope looks like a body', () => {
  const text = '{ "name" : "x" , "body":{"a":1} }';
  const head = { eventId: 'e', kind: 'event', siteId: 's', receivedAt: 1, sealedIp: '', acceptLanguage: '' } as const;
  expect(bodyTextOf(encodeRawRecord({ ...head, userAgent: 'a,"body":{}\\,' }, text))).toBe(text);
});
