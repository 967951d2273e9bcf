/** A URL without its fragment, which may hold secrets and is never stored. */
export function cleanUrl(url: string): string {
  // The server would cut a longer URL.
  return (/[^#]{0,4096}/.exec(url) as RegExpExecArray)[0];
}
