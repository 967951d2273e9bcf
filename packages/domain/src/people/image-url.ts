import schema from '../../../../schemas/identity.schema.json' with { type: 'json' };

/** Characters that could end an attribute or a string in a page that shows the image, or that `URL` removes. */
const UNSAFE = /[\p{Cc}\s"<>]/u;
const CHARS_MAX = schema.$defs.fields.properties.image.maxLength;

/**
 * Returns the http or https URL of an image as `URL` writes it, with `'` as `%27`. If that has more characters than a caller may send, the
 * URL is returned as it was sent. Returns undefined if the text is no such URL, or cannot be stored safely.
 */
export function toImageUrl(text: string): string | undefined {
  if (UNSAFE.test(text) || !URL.canParse(text)) return undefined;
  const { href, protocol } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  // `URL` does not escape the apostrophe.
  const escaped = href.replaceAll("'", '%27');
  if (escaped.length <= CHARS_MAX) return escaped;
  return text.includes("'") ? undefined : text;
}

export function isImageUrl(text: string): boolean {
  return toImageUrl(text) !== undefined;
}
