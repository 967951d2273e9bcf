/**
 * Matches the beginning of an http or https URL. `URL` alone would also accept `https:a` and `https:///a`, which a browser can read as a path of
 * the page that shows the image.
 */
const BEGINNING = /^https?:\/\/[^/\\]/i;
/** Characters that could end an attribute or a string in a page that shows the image, or that `URL` removes. */
const UNSAFE = /[\p{Cc}\s"<>]/u;

export function isImageUrl(text: string): boolean {
  return BEGINNING.test(text) && !UNSAFE.test(text) && URL.canParse(text);
}

/** The URL of an image as it is stored: as it was sent, but with `'` as `%27`, because `'` could end an attribute too. */
export function storedImageUrl(url: string): string {
  return url.replaceAll("'", '%27');
}
