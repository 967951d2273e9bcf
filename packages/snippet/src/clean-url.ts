/** The length at which the server would cut a URL. */
export const URL_CHARS_MAX = 4096;

/**
 * Returns a URL without its fragment, which can contain secrets. Only with the option `hash`, the snippet sends the fragment, as a part of the
 * path.
 */
export const cleanUrl = (url: string): string => (url.split('#')[0] as string).slice(0, URL_CHARS_MAX);
