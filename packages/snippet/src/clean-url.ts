/** Longer ones would be cut by the server. */
const LEADING_CHARS = /[^#]{0,4096}/;

/** A URL without its fragment, which may hold secrets and is never stored. */
export function cleanUrl(url: string): string {
  return (LEADING_CHARS.exec(url) as RegExpExecArray)[0];
}
