import { isJsonObject, type JsonObject } from '../json/json.ts';
import { CHAR, keyOf, stringEnd } from '../json/scan-text.ts';

/** The key `ip`, in which one or both letters can be escaped. */
const ESCAPED_KEY = /"(?:i|\\u0069)(?:p|\\u0070)"/;
const KEY = '"ip"';
/** The usual form of an address: a string without escapes, with the white space around it. */
const PLAIN_VALUE = /\s*:(\s*"[^"\\]*"\s*)/y;

/**
 * Removes the client IP from the JSON text of a server event or a browser's hit: the values of `context.ip` and of `ip` at the top
 * level become empty strings, also if these keys are repeated or contain escapes. All other text stays as it was sent: `ip` in
 * any other place, such as in `properties`, is the caller's own data. `text` must be valid JSON. `body` is the parsed text. It shows
 * whether the text has one plain address, which can then be replaced without a scan of all JSON tokens.
 */
export function withoutClientAddress(text: string, body?: JsonObject): string {
  const keyAt = text.indexOf(KEY);
  const hasEscapes = text.includes('\\u00');
  if (keyAt < 0 && !(hasEscapes && ESCAPED_KEY.test(text))) return text;
  const isOnly = !hasEscapes && text.indexOf(KEY, keyAt + KEY.length) < 0;
  // `hasAddress` has found the key in `body`. If the text contains the key only once, that key is at `keyAt`.
  return (isOnly && body !== undefined && hasAddress(body) ? blankedAt(text, keyAt) : undefined) ?? blanked(text);
}

function hasAddress(body: JsonObject): boolean {
  if (Object.hasOwn(body, 'ip')) return true;
  const { context } = body;
  return isJsonObject(context) && Object.hasOwn(context, 'ip');
}

/** Replaces the value of the key at `keyAt` by an empty string. Returns undefined if the value is not a string without escapes. */
function blankedAt(text: string, keyAt: number): string | undefined {
  PLAIN_VALUE.lastIndex = keyAt + KEY.length;
  const value = PLAIN_VALUE.exec(text)?.[1];
  if (value === undefined) return undefined;
  const end = PLAIN_VALUE.lastIndex;
  return `${text.slice(0, end - value.length)}""${text.slice(end)}`;
}

/** Reads the text once and without recursion, so that deep nesting cannot overflow the stack. */
function blanked(text: string): string {
  const isObject: boolean[] = [];
  let depth = 0;
  let expectsKey = false;
  let topKey = '';
  /** The position after the colon of the address that is being skipped; -1 if no address is being skipped. */
  let valueFrom = -1;
  /** The nesting depth of that address. */
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
        if (expectsKey && depth <= 2 && valueFrom < 0) {
          const key = keyOf(text, i, end);
          if (depth === 1) topKey = key;
          isAddress = key === 'ip' && (depth === 1 || topKey === 'context');
        }
        expectsKey = false;
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
