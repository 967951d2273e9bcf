/** Codes of the characters that determine the structure of a JSON text. */
export const CHAR = {
  quote: 34,
  comma: 44,
  colon: 58,
  openBracket: 91,
  backslash: 92,
  closeBracket: 93,
  openBrace: 123,
  closeBrace: 125,
} as const;

/** The position of the quote that ends the string which begins at `from`. */
export function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === CHAR.backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** The key whose quotes are at `from` and `end`. */
export function keyOf(text: string, from: number, end: number): string {
  const key = text.slice(from + 1, end);
  return key.includes('\\') ? (JSON.parse(`"${key}"`) as string) : key;
}
