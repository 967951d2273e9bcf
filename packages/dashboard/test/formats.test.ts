import { createFormats } from '../src/i18n/formats.ts';

test.each([
  ['en', 12_345, '12.3K'],
  ['en', 1_234_567, '1.23M'],
  ['de', 12_345, '12.345'],
  ['de', 123_456, '123.456'],
  ['de', 1_234_567, '1,23\u00a0Mio.'],
])('in %s, the short form of %i is %s: never a rounded number that looks exact', (language, value, text) => {
  expect(createFormats(language).compact(value)).toBe(text);
});

test.each([
  ['12.50', 'EUR', '€12.50'],
  ['-3', 'usd', '-$3.00'],
  ['0.0004', 'EUR', '€0.0004'],
  ['12.5000', 'EUR', '€12.50'],
  ['100.5', 'JPY', '¥100.5'],
  ['12345678901234567890.12', 'EUR', '€12,345,678,901,234,567,890.12'],
])('the amount %s %s is %s', (amount, currency, text) => {
  expect(createFormats('en').money(amount, currency)).toBe(text);
});

test.each([
  ['12,50', 'EUR'],
  ['0x10', 'EUR'],
  ['1e3', 'EUR'],
  ['', 'EUR'],
  ['12.50', 'points'],
])('an amount or a currency of another form stays as it is: %j %s', (amount, currency) => {
  expect(createFormats('en').money(amount, currency)).toBe(`${amount} ${currency}`.trim());
});

test('an hour is shown without minutes and seconds, which are not known', () => {
  const hour = (language: string) => createFormats(language).time('2026-11-29T09:00:00Z', 'UTC', 'wholeHour');
  expect([hour('en').replace('\u202f', ' '), hour('de')]).toEqual(['Nov 29, 2026, 9 AM', '29. Nov. 2026, 09 Uhr']);
});
