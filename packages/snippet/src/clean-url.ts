/**
 * Returns a URL without its fragment, which can contain secrets. Only with the option `hash`, the snippet sends the fragment, as a part of the
 * path.
 */
export const cleanUrl = (url: string): string =>
  // Cuts the URL at the length at which the server would cut it.
  url.slice(0, 4096).split('#')[0] as string;
