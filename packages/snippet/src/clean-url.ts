/** Longer ones would be cut by the server. */
const URL_CHARS_MAX = 4096;

/** A URL without its fragment, which may hold secrets and is never stored. */
export function cleanUrl(url: string): string {
  return (url.split('#')[0] as string).slice(0, URL_CHARS_MAX);
}
