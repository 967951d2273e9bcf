import { acceptCollectHit, acceptIdentity, acceptServerEvent } from '../../src/ingest/accept-body.ts';
import { FieldError } from '../../src/ingest/field-error.ts';

const refusal = (accepted: object): string | undefined =>
  accepted instanceof FieldError ? accepted.message : undefined;
const ofEvent = (fields: string) => {
  const text = `{"name":"e",${fields}}`;
  return refusal(acceptServerEvent(JSON.parse(text), () => text));
};
const ofProperties = (properties: string) => ofEvent(`"properties":${properties}`);

describe('"a property that cannot be stored as it was sent is 400"', () => {
  it.each([
    ['{"a":1e400}', /^properties must hold numbers that fit a 64-bit float: the number at "a" does not$/],
    ['{"a":[{"b":-1e999}]}', /"b"/],
    [
      '{"a.b":1,"a":{"b":2}}',
      /^properties must not store two values under one path: .* two values have the path "a\.b"$/,
    ],
    ['{"a":1,"a.b":2}', /"a" and "a\.b" clash/],
    ['{"a":[],"a.b":2}', /clash/],
    ['{"a.b":1,"a b":2,"a-b":3,"a":{"b.c":4}}', /"a\.b" and "a\.b\.c" clash/],
    ['{"a":{"":1},"a.":2}', /two values have the path "a\."/],
    ['{"":{"":1},".":2}', /two values have the path "\."/],
    ['{"x":[[{"a.b":1,"a":{"b":2}}]]}', /two values have the path "a\.b"/],
    ['{"a\\u0000.b":1,"a\\u0000":2}', /clash/],
    ['{"a":"\\ud800"}', /valid Unicode/],
    ['{"a":["\\udc00x"]}', /valid Unicode/],
    ['{"\\ud800":1}', /valid Unicode/],
    ['{"a":[null,[1]]}', /null beside an array/],
    ['{"a":[[[]],[null],[]]}', /null beside an array/],
    ['{"a":-9223372036854775809}', /rounded: send -9223372036854775809, at "a", as a string/],
    ['{"a":123456789012345678901234}', /rounded/],
    ['{"a":[9007199254740993,1.5]}', /rounded/],
    ['{"a":[[9007199254740993],[1e20]]}', /rounded/],
  ])('%s', (properties, message) => {
    expect(ofProperties(properties)).toMatch(message);
  });

  it.each([
    '{"a.b":1,"a.c":2,"a":{"d":3}}',
    '{"a":null,"a.b":1}',
    '{"a":{},"a.b":1}',
    '{"a":{"b":null},"a.b":1}',
    '{"a\\u0000b":1,"a.b":2,"a\\u0001":3,"a":{"\\u0000":4}}',
    '{"a":[{"b.c":1},{"b":{"c":2}}],"b.c":3}',
    '{"a":1,"a":2}',
    '{"a":18446744073709551615,"b":-9223372036854775808,"c":9007199254740993}',
    '{"a":18446744073709551616,"b":100000000000000000000000,"c":123456789012345670000}',
    '{"a":[9007199254740993,1,true,"x"],"b":[9007199254740992,1.5],"c":[12345678901234567000,1.5]}',
    '{"a":["9007199254740993",1.5],"b":9007199254740993,"mark":"\\u0001\\u00019007199254740993"}',
    '{"a":[[null],[1],[]],"b":[{"c":null},{"c":[1]}]}',
    '{"a":[null,1,{"b":[]}],"b":"\\ud83d\\ude00\\\\ud800","c":-0.0,"d":5e-324}',
  ])('%s is stored', (properties) => {
    expect(ofProperties(properties)).toBeUndefined();
  });

  it('names the properties as they were sent', () => {
    expect(ofEvent('"metadata":{"a":1e400}')).toMatch(/^metadata /);
    expect(ofEvent('"event_properties":{"a":1e400}')).toMatch(/^event_properties /);
  });

  it('external_id is stored as a property, so another property of that name is refused', () => {
    expect(ofEvent('"external_id":"x","properties":{"external_id":"y"}')).toMatch(/^properties\.external_id must be/);
    expect(ofEvent('"external_id":"x","properties":{"external_id.y":1}')).toMatch(/clash/);
    expect(ofEvent('"external_id":"\\ud800"')).toMatch(/valid Unicode/);
    expect(ofEvent('"external_id":"x","properties":{"external_id":"x"}')).toBeUndefined();
    expect(ofEvent('"external_id":"x","properties":{"external_id":null}')).toBeUndefined();
  });

  it('the same rules apply to hits and identities', () => {
    const ofHit = (fields: string) => {
      const text = `{"site_id":"s","visitor_id":"v","session_id":"s",${fields}}`;
      return refusal(acceptCollectHit(JSON.parse(text), () => text));
    };
    const event = (properties: string) => ofHit(`"type":"event","event_name":"e","event_properties":${properties}`);
    expect(event('{"a":1,"a.b":2}')).toMatch(/^event_properties .*clash/);
    expect(event('{"a":12345678901234567890123}')).toMatch(/rounded/);
    expect(event('{"a":9007199254740993,"b.c":2}')).toBeUndefined();
    const person = (traits: string) => ofHit(`"type":"identify","identity":{"user_id":"u",${traits}}`);
    expect(person('"a":12345678901234567890123')).toMatch(/^identity: traits .*rounded/);
    expect(person('"a":9007199254740993')).toBeUndefined();
    const ofIdentity = (traits: string) => {
      const text = `{"visitor_id":"v","user_id":"u",${traits}}`;
      return refusal(acceptIdentity(JSON.parse(text), () => text));
    };
    expect(ofIdentity('"a":"\\ud800"')).toMatch(/^traits .*"a"/);
    expect(ofIdentity('"a":9007199254740993')).toBeUndefined();
  });
});
