import { sentProperties } from '@weir/domain/ingest/server-event';
import type { JsonObject } from '@weir/domain/json/json';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { useOpened } from '@weir/testkit/use-opened';
import { exactJson } from '../../src/encoding/exact-json.ts';
import { NOW, openEnrichHarness, SITE } from '../pipeline/enrich-harness.ts';

const harness = useOpened(openEnrichHarness);

const head = {
  eventId: '01975a00-0000-7000-8000-000000000001',
  siteId: SITE,
  receivedAt: NOW,
  sealedIp: '',
  userAgent: '',
  acceptLanguage: '',
} as const;

/** Encodes the properties of an event whose body is this text. */
function exact(text: string): string {
  const properties = sentProperties(JSON.parse(text)) as JsonObject;
  return exactJson(properties, encodeRawRecord({ ...head, kind: 'event' }, text), sentProperties);
}

describe('properties (docs/tables.md): whole numbers of up to 64 bits are stored exactly as sent', () => {
  test.each([
    ['{"properties":{"id":9007199254740993}}', '{"id":9007199254740993}'],
    ['{"properties":{"u":18446744073709551615,"n":-9223372036854775808}}', null],
    ['{"properties":{"n":-9223372036854775808}}', null],
    ['{"properties":{"n":-9223372036854775807}}', null],
    [
      '{"metadata": {"a": [1, {"b": 1234567890123456789}, "x"]}, "name": "e"}',
      '{"a":[1,{"b":1234567890123456789},"x"]}',
    ],
    ['{"x":9007199254740993,"properties":{"id":1}}', '{"id":1}'],
    ['{"properties":{"id":1},"properties":{"id":9007199254740993}}', '{"id":9007199254740993}'],
    ['{"properties":{"s":"9007199254740993","t":"a\\"9007199254740993","9007199254740993":1}}', null],
    ['{"properties":{"f":0.12345678901234567,"g":12345678901234567.5,"h":12345678901234567e2}}', undefined],
    [
      '{"properties":{"big":18446744073709551616,"id":9007199254740993}}',
      '{"big":1.8446744073709552e+19,"id":9007199254740993}',
    ],
    ['{"properties":{"id":9007199254740993,"mark":"\\u00019007199254740993"}}', null],
  ])('%s', (text, wanted) => {
    const sent = JSON.stringify(sentProperties(JSON.parse(text)));
    const asSent = text.slice('{"properties":'.length, -1);
    expect(exact(text)).toBe(wanted === null ? asSent : wanted === undefined ? sent : wanted);
  });

  test('in events, in hits and in traits', async () => {
    const fields = '"site_id":"demo","visitor_id":"v","session_id":"s"';
    const bodies = [
      ['event', '{"name":"e","external_id":"x","properties":{"id":9007199254740993}}'],
      ['collect', `{${fields},"type":"event","event_name":"e","event_properties":{"id":9007199254740993}}`],
      ['collect', `{${fields},"type":"identify","identity":{"user_id":"u","id":9007199254740993}}`],
      ['identify', '{"visitor_id":"v","user_id":"u","id":9007199254740993}'],
    ] as const;
    const lines = await harness.lines(bodies.map(([kind, text]) => encodeRawRecord({ ...head, kind }, text)));
    expect(lines[0]).toContain('{"id":9007199254740993,"external_id":"x"}');
    expect(lines[1]).toContain('{"id":9007199254740993}');
    for (const line of lines.slice(2)) expect(line).toContain('\\"traits\\":{\\"id\\":9007199254740993}');
  });
});
