import { hideCredentials } from './hide-credentials.ts';

const S3_URL = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9._=-]+)*\/?$/;
const S3_RULES =
  ' (the name of a bucket has 3 to 63 chars of a-z 0-9 . - and begins and ends with a letter or digit; a prefix has chars of A-Z a-z 0-9 . _ = - /)';

/** Returns why `url` cannot name an object store; undefined if it can. */
export function objectStoreUrlProblem(url: string): string | undefined {
  if (S3_URL.test(url)) return undefined;
  // `file:folder` would be the folder of this name in the root folder.
  const parsed = url.startsWith('file:/') && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && parsed.host === '' && parsed.pathname.length > 1) return undefined;
  return `must be file:///folder or s3://bucket/prefix, not "${hideCredentials(url)}"${url.startsWith('s3:') ? S3_RULES : ''}`;
}
