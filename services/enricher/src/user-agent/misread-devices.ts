const OUKITEL = 'OUKITEL[^;)]*?';
/**
 * Carriers in Japan and in the USA sell phones under such names: A101SH. Acer's tablets have no letters after the digits. Lenovo's A101LV is a
 * tablet.
 */
const CARRIER_PHONE = '[AB]\\d{3}(?!LV)[A-Z]{2}';
const END = '(?: Build|[;)])';

/**
 * Patterns that ua-parser-js tries before its own, which give these devices to other makers: they find `itel` in OUKITEL, and Acer's tablet A101 in the
 * phone A101SH of Sharp. `deviceBrand` finds the brands.
 */
export const MISREAD_DEVICES = [
  // Like ua-parser-js for unknown models: only phones have `Mobile` in the user agent of a browser.
  [new RegExp(`; (${OUKITEL})${END}(?!.*\\bMobile\\b).+ Safari\\/`, 'i')],
  ['model', ['type', 'tablet']],
  [new RegExp(`; (${OUKITEL}|${CARRIER_PHONE})${END}`, 'i')],
  ['model', ['type', 'mobile']],
] as const;
