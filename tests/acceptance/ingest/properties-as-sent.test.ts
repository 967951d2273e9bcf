import fc from 'fast-check';
import { ACCEPTED, expectEnvelope, expectIdentifyError, expectJson } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';
import { propertiesText, valuesOf } from './properties-model.ts';

const weir = useWeir();

/** Returns the stored `properties` of each event. The keys are the names of the events. */
async function stored(site: string, count: number): Promise<ReadonlyMap<unknown, string>> {
  const rows = await weir.rows('events', site, count, 'event_name, toJSONString(properties) AS json');
  return new Map(rows.map(({ event_name, json }) => [event_name, String(json)]));
}

describe('a property that cannot be stored as it was sent gets 400', () => {
  test('accepted properties are read back as they were sent', async () => {
    const counts = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(propertiesText, { minLength: 100, maxLength: 100 }), async (texts) => {
        const { site, key } = await weir.createSiteWithKey();
        const accepted: [string, string][] = [];
        const send = async (properties: string, at: number) => {
          const answer = await weir.events(key, `{"name":"e${at}","properties":${properties}}`);
          if (answer.status === 202) accepted.push([`e${at}`, properties]);
          else expectEnvelope(answer, 400, /^properties /);
        };
        await Promise.all(texts.map(send));
        counts.accepted += accepted.length;
        counts.refused += texts.length - accepted.length;
        const found = await stored(site, accepted.length);
        for (const [name, properties] of accepted) {
          const json = found.get(name) ?? '';
          expect({ properties, json, values: valuesOf(json) }).toEqual({
            properties,
            json,
            values: valuesOf(properties),
          });
        }
      }),
      { numRuns: 6, endOnFailure: true },
    );
    // Many generated properties cannot be stored as sent, but at least a third of them can.
    expect(counts.accepted).toBeGreaterThan(counts.refused / 2);
    expect(counts.refused).toBeGreaterThan(0);
  });

  test.each([
    ['{"a":1e400}', /"a"/],
    ['{"a":[-1e400]}', /"a"/],
    ['{"a.b":1,"a":{"b":2}}', /must not store two values under one path/],
    ['{"a":1,"a.b":2}', /must not store two values under one path/],
    ['{"list":[{"a.b":1,"a":{"b":2}}]}', /must not store two values under one path/],
    ['{"a":"\\ud800"}', /Unicode/],
    ['{"a":123456789012345678901234}', /as a string/],
    ['{"a":[null,[1]]}', /null beside an array/],
  ])('%s is 400', async (properties, message) => {
    const { site, key } = await weir.createSiteWithKey();
    expectEnvelope(await weir.events(key, `{"name":"x","properties":${properties}}`), 400, message);
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'event', event_name: 'x' };
    const answer = await weir.collect(`${JSON.stringify(hit).slice(0, -1)},"event_properties":${properties}}`);
    expect([answer.status, answer.text]).toEqual([400, '']);
  });

  test('collect: the same flat path twice gets 400; accepted properties are stored', async () => {
    const { site } = await weir.createSiteWithKey();
    const send = async (name: string, properties: string) => {
      const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'event', event_name: name };
      return (await weir.collect(`${JSON.stringify(hit).slice(0, -1)},"event_properties":${properties}}`)).status;
    };
    expect(await send('clash', '{"a":1,"a.b":2}')).toBe(400);
    const good = '{"a.b":9007199254740993,"a.c":true,"gone":null,"d":"x"}';
    expect(await send('good', good)).toBe(204);
    expect(valuesOf((await stored(site, 1)).get('good') ?? '')).toEqual(valuesOf(good));
  });

  test('in a batch, values are stored as they were sent or get 400', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const texts = [
      '{"name":"good","properties":{"id":9007199254740993,"ids":[18446744073709551615],"a":1,"a":2}}',
      '{"name":"long","properties":{"id":123456789012345678901}}',
      '{"name":"money","value":12345678901234567.89,"properties":{"currency":"EUR"}}',
    ];
    const answer = await weir.send({
      path: '/api/v1/events/batch',
      headers: { authorization: `Bearer ${key}` },
      body: `{"events": [${texts.join(' , ')}]}`,
    });
    expect(answer.json).toMatchObject({
      data: {
        results: [
          { accepted: true },
          { error: { code: 400, message: expect.stringMatching(/123456789012345678901/) } },
          { accepted: true },
        ],
      },
    });
    const rows = await stored(site, 2);
    expect(valuesOf(rows.get('good') ?? '')).toEqual(
      valuesOf('{"id":9007199254740993,"ids":[18446744073709551615],"a":2}'),
    );
    expect(await weir.rows('payments', site, 1, 'amount_text')).toEqual([{ amount_text: '12345678901234567.89' }]);
  });

  test('a property is not replaced by another external_id', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const send = (external: unknown) =>
      weir.events(key, { name: 'x', external_id: 'one', properties: { external_id: external } });
    expectEnvelope(await send('two'), 400, /^properties\.external_id must/);
    expectJson(await send('one'), 202, ACCEPTED);
    expect(valuesOf((await stored(site, 1)).get('x') ?? '')).toEqual(['"external_id"="one"']);
  });

  test('a trait that cannot be stored gets 400, and the message names it', async () => {
    const { key } = await weir.createSiteWithKey();
    const identify = (trait: string) => weir.identify(key, `{"visitor_id":"v","user_id":"u",${trait}}`);
    expectIdentifyError(await identify('"big":123456789012345678901234'), 400, /trait.*123456789012345678901234/);
    expectIdentifyError(await identify('"half":"\\ud800"'), 400, /trait.*half/);
    expect((await identify('"id":9007199254740993')).status).toBe(200);
  });
});
