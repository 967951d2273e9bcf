/**
 * Replaces user name and password of a URL by `…`, for messages. Everything between the scheme and the last `@` counts as credentials,
 * because a password that was not encoded can contain `/` and `@`.
 */
export function hideCredentials(url: string): string {
  return url.replace(/^([a-z0-9+.-]*:\/\/)?[\s\S]*@/i, '$1…@');
}
