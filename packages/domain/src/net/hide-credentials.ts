/**
 * Replaces user name and password of a URL, for messages. Everything before the last `@` counts as credentials, because a password that was
 * not encoded can contain `/` and `@`.
 */
export function hideCredentials(url: string): string {
  return url.replace(/^([a-z0-9+.-]*:\/\/)?[\s\S]*@/i, '$1…@');
}
