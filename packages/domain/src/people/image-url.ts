/** Characters that could end an attribute or a string in a page that shows the image. `URL` does not escape the apostrophe. */
const UNSAFE = /[\p{Cc}'"]/u;

/** True if a text is the address of an image: an http or https URL, in the spelling that `URL` produces. */
export function isImageUrl(text: string): boolean {
  if (UNSAFE.test(text) || !/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { href } = new URL(text);
  // `URL` adds a path to a URL that has none: https://cdn.example becomes https://cdn.example/.
  return href === text || href === `${text}/`;
}
