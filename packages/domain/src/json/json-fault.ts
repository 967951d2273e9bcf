const SPACE = /[\t\n\r ]*/y;
const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON does not allow control characters in strings
  /[[\]{},:]|"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** What can come next: a value, the first item of an array, a key, the first key, the colon after a key, or the end of a value. */
type Next = 'value' | 'item' | 'key' | 'first key' | ':' | 'end';

/**
 * Returns where a text stops being valid JSON, as an index: the begin of the first wrong token, or the length of the text if it ends too early.
 * `JSON.parse` does not tell this for every error. Undefined if the text is valid JSON.
 */
export function jsonFault(text: string): number | undefined {
  const open: string[] = [];
  let next: Next = 'value';
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    if (next === 'end' && open.length === 0) return at === text.length ? undefined : at;
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    const after: Next | undefined = token === undefined ? undefined : afterToken(token, next, open);
    if (token === undefined || after === undefined) return at;
    next = after;
    at += token.length;
  }
}

/**
 * Returns what can come after the token, or undefined if the token cannot come here. `open` has the closing brackets of the open arrays and objects.
 */
function afterToken(token: string, next: Next, open: string[]): Next | undefined {
  if (next === ':') return token === ':' ? 'value' : undefined;
  if (token === ']' || token === '}') {
    const isAllowed = next === 'end' || next === (token === ']' ? 'item' : 'first key');
    return isAllowed && open.pop() === token ? 'end' : undefined;
  }
  if (next === 'end') return token !== ',' ? undefined : open.at(-1) === '}' ? 'key' : 'value';
  if (next === 'key' || next === 'first key') return token.startsWith('"') ? ':' : undefined;
  if (token === ',' || token === ':') return undefined;
  if (token !== '[' && token !== '{') return 'end';
  open.push(token === '[' ? ']' : '}');
  return token === '[' ? 'item' : 'first key';
}
