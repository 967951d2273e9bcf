/** A URL without its fragment, which may hold secrets and is never stored. */
export function cleanUrl(url: string): string {
  // Longer ones would be cut by the server.
  return (/[^#]{0,4096}/.exec(url) as RegExpExecArray)[0];
}
