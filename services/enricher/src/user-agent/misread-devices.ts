const OUKITEL = 'OUKITEL[^;)]*?';
/**
 * Carriers in Japan and in the USA sell devices whose names are a letter, three digits and two letters, for example Sharp's phone A101SH and
 * Lenovo's tablet A101LV. Acer's tablets have no letters after the digits.
 */
const CARRIER_TABLET = 'A\\d{3}LV';
const CARRIER_PHONE = '[AB]\\d{3}(?!LV)[A-Z]{2}';
const END = '(?: Build|[;)])';
/** Huawei's browser writes the versions of these services after the model, and ua-parser-js takes them for the model. */
const HUAWEI_BROWSER = '([^;()]+); [HG]MSCore ';

/**
 * Patterns that ua-parser-js tries before its own patterns. Its own patterns name wrong makers: they find `itel` in OUKITEL, and Acer's tablet A101
 * in Sharp's phone A101SH. `deviceBrand` (device-brand.ts) finds the brands.
 */
export const MISREAD_DEVICES = [
  // Like ua-parser-js for unknown models: only phones have `Mobile` in the user agent of a browser.
  [new RegExp(`; (${OUKITEL})${END}(?!.*\\bMobile\\b).+ Safari\\/`, 'i')],
  ['model', ['type', 'tablet']],
  [new RegExp(`; ${HUAWEI_BROWSER}.*\\bMobile\\b`)],
  ['model', ['type', 'mobile']],
  [new RegExp(`; ${HUAWEI_BROWSER}`)],
  ['model', ['type', 'tablet']],
  [new RegExp(`; (${CARRIER_TABLET})${END}`, 'i')],
  ['model', ['type', 'tablet']],
  [new RegExp(`; (${OUKITEL}|${CARRIER_PHONE})${END}`, 'i')],
  ['model', ['type', 'mobile']],
] as const;
