/** Characters that end an attribute or a string in the pages that show the image. `URL` leaves the apostrophe as it is. */
const UNSAFE = /[\p{Cc}'"]/u;

/** Whether a text is the address of an image: an http or https URL, spelt as `URL` itself writes it. */
export function isImageUrl(text: string): boolean {
  if (UNSAFE.test(text) || !/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { href } = new URL(text);
  // `URL` adds the path of a bare origin: https://cdn.example is https://cdn.example/.
  return href === text || href === `${text}/`;
}
