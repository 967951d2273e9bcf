import {
  type Redriven,
  redrivenOf,
  redrivenOfDetail,
  redrivenRecord,
  withoutRedriven,
  withRedriven,
} from '../../src/records/redriven.ts';

const REDRIVEN: Redriven = { log: 'a-1_b', partition: 3, offset: 42, attempt: 2, at: 1_764_000_000_000 };
const bytes = (text: string) => Buffer.from(text);

test.each(['', '{"session_moved":true}', '{"profile_id":"p","traits":{"redriven":{"log":"x"}}}'])(
  'what is added to the detail %s can be read and removed',
  (detail) => {
    const marked = withRedriven(detail, REDRIVEN);
    expect(JSON.parse(marked)).toEqual({ ...(detail === '' ? {} : JSON.parse(detail)), redriven: REDRIVEN });
    expect(redrivenOfDetail(marked)).toEqual(REDRIVEN);
    expect(withoutRedriven(marked)).toBe(detail);
    expect([withRedriven(detail, undefined), withoutRedriven(detail), redrivenOfDetail(detail)]).toEqual([
      detail,
      detail,
      undefined,
    ]);
  },
);

test('a redriven record has the body unchanged, the new address and no address in plain text', () => {
  const raw = '{"eventId":"e","sealedIp":"old","ip":"192.0.2.1","body":{"n":12345678901234567890,"body":{}}}';
  const made = redrivenRecord(bytes(raw), 'new', REDRIVEN)?.toString() ?? '';
  expect(made).toBe(
    `{"eventId":"e","sealedIp":"new","redriven":${JSON.stringify(REDRIVEN)},"body":{"n":12345678901234567890,"body":{}}}`,
  );
  expect(redrivenOf(bytes(made))).toEqual(REDRIVEN);
  const again = redrivenRecord(bytes(made), 'newer', { ...REDRIVEN, attempt: 3 });
  expect(redrivenOf(again ?? bytes(''))?.attempt).toBe(3);
});

test.each(['', 'nonsense', '{"eventId":"e"', '{"body":', '[1,"body":2]', '{"eventId":"e","body":{}'])(
  'bytes that are no record cannot be redriven: %s',
  (text) => {
    expect(redrivenRecord(bytes(text), '', REDRIVEN)).toBeUndefined();
    expect(redrivenOf(bytes(text))).toBeUndefined();
  },
);
