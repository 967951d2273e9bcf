import { CHAR, keyOf, stringEnd } from '../json/scan-text.ts';

/** The key `ip` with one of its letters escaped. */
const ESCAPED_KEY = /"(?:i|\\u0069)(?:p|\\u0070)"/;

/**
 * The JSON text of a server event or a browser's hit without the client's address: the values of `context.ip` and of `ip`
 * at the top level become empty strings, wherever these keys stand several times or are spelled with escapes. All other text
 * stays as it was sent: `ip` anywhere else, such as in `properties`, is the caller's own data. `text` must be valid JSON.
 */
export function withoutClientAddress(text: string): string {
  if (!text.includes('"ip"') && !(text.includes('\\u00') && ESCAPED_KEY.test(text))) return text;
  return blanked(text);
}

/** Walks through the text once. Nesting costs no stack. */
function blanked(text: string): string {
  const isObject: boolean[] = [];
  let depth = 0;
  let expectsKey = false;
  let topKey = '';
  /** Where the value of an address begins, after its colon, and how deep; -1: not within one. */
  let valueFrom = -1;
  let valueDepth = 0;
  let isAddress = false;
  let result = '';
  let copiedTo = 0;

  const endValue = (at: number): void => {
    result += `${text.slice(copiedTo, valueFrom)}""`;
    copiedTo = at;
    valueFrom = -1;
  };

  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case CHAR.quote: {
        const end = stringEnd(text, i);
        if (expectsKey) {
          expectsKey = false;
          if (depth <= 2 && valueFrom < 0) {
            const key = keyOf(text, i, end);
            if (depth === 1) topKey = key;
            isAddress = key === 'ip' && (depth === 1 || topKey === 'context');
          }
        }
        i = end;
        break;
      }
      case CHAR.colon:
        if (isAddress) {
          valueFrom = i + 1;
          valueDepth = depth;
          isAddress = false;
        }
        break;
      case CHAR.comma:
        if (valueFrom >= 0 && depth === valueDepth) endValue(i);
        expectsKey = isObject[depth] === true;
        break;
      case CHAR.openBrace:
      case CHAR.openBracket:
        depth += 1;
        expectsKey = text.charCodeAt(i) === CHAR.openBrace;
        isObject[depth] = expectsKey;
        break;
      case CHAR.closeBrace:
      case CHAR.closeBracket:
        if (valueFrom >= 0 && depth === valueDepth) endValue(i);
        depth -= 1;
        break;
    }
  }
  return result + text.slice(copiedTo);
}
