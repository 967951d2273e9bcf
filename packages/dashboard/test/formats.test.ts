import { createFormats } from '../src/i18n/formats.ts';

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
