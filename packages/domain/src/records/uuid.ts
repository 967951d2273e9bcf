const UUID_CHARS = 36;
const HYPHEN = 45;
/** For each ASCII code: 1 if it is a hexadecimal digit. */
const IS_HEX = new Uint8Array(128);
for (const digit of '0123456789abcdefABCDEF') IS_HEX[digit.charCodeAt(0)] = 1;

/**
 * Whether a text is a UUID of any version, in upper or lower case. The enricher checks each event ID: a regular expression takes three times as
 * long.
 */
export function isUuid(text: string): boolean {
  if (text.length !== UUID_CHARS) return false;
  for (let i = 0; i < UUID_CHARS; i++) {
    const code = text.charCodeAt(i);
    const isRight = i === 8 || i === 13 || i === 18 || i === 23 ? code === HYPHEN : IS_HEX[code] === 1;
    if (!isRight) return false;
  }
  return true;
}
