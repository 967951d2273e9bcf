import type { JsonObject } from '@weir/domain/json/json';
import { useOpened } from '@weir/testkit/use-opened';
import { openEnrichHarness, pageview } from './enrich-harness.ts';

const harness = useOpened(openEnrichHarness);

async function row(fields: JsonObject, acceptLanguage = 'de-CH, de;q=0.9') {
  const [line] = await harness.enrich({ acceptLanguage, body: pageview(fields) });
  return line;
}

/** The client IP of the harness is in London. */
describe('language and time zone of the body win over the header and the location', () => {
  test('both values come from the body if it has them', async () => {
    const said = await row({ language: 'pt-BR', timezone: 'America/Sao_Paulo' });
    expect(said).toMatchObject({ language: 'pt-BR', timezone: 'America/Sao_Paulo', country: 'GB' });
    const again = await row({ language: 'pt-BR', timezone: 'America/Sao_Paulo' });
    expect(again).toMatchObject({ timezone: 'America/Sao_Paulo' });
  });

  test.each(['Asia/Kolkata', 'Asia/Calcutta', 'Europe/Kyiv', 'Etc/GMT+5', 'UTC', 'America/Argentina/Buenos_Aires'])(
    'zone %s',
    async (timezone) => expect((await row({ timezone }))?.timezone).toBe(timezone),
  );

  test.each([
    [{}],
    [{ language: '', timezone: '' }],
    [{ language: null, timezone: null }],
    [{ language: 5, timezone: ['Europe/Berlin'] }],
    [{ language: 'not a tag', timezone: 'Mars/Base' }],
    [{ language: 'de","x":"', timezone: 'Europe/Berlin","' }],
    [{ language: 'x'.repeat(300), timezone: `A${'/a'.repeat(100)}` }],
    [{ timezone: '+02:00' }],
  ] as JsonObject[][])('%j says nothing', async (fields) => {
    expect(await row(fields as unknown as JsonObject)).toMatchObject({ language: 'de-CH', timezone: 'Europe/London' });
  });

  test.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['AMERICA/SAO_PAULO', 'America/Sao_Paulo'],
    ['Europe/KYiv', 'Europe/Kyiv'],
    ['us/pacific', 'US/Pacific'],
    // An abbreviation is no IANA name. ClickHouse does not know it.
    ['IST', 'Europe/London'],
  ])('zone %s is stored as %s', async (timezone, stored) => expect((await row({ timezone }))?.timezone).toBe(stored));

  test('the name of a weight in Accept-Language can be in upper case', async () => {
    expect(await row({}, 'en;Q=0.1, de;q=0.5, fr;Q=0.3')).toMatchObject({ language: 'de' });
  });

  test.each([
    ['EN-gb', 'en-GB'],
    ['pt-br', 'pt-BR'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['es-419', 'es-419'],
    ['de-U-CO-Phonebk', 'de-u-co-phonebk'],
  ])('language %s is stored as %s, from the body and from the header', async (language, stored) => {
    expect((await row({ language }))?.language).toBe(stored);
    expect((await row({}, language))?.language).toBe(stored);
  });

  test('both are empty if no source has them', async () => {
    const [line] = await harness.enrich({ ip: '', body: pageview() });
    expect(line).toMatchObject({ language: '', timezone: '', country: '' });
  });
});
