import { createHash, timingSafeEqual } from 'node:crypto';

const PREFIX = 'wk_';
const RANDOM_BYTES = 32;
const HEADER_CHARS_MAX = 300;

/** A new plain key. It is shown once and never stored. */
export function newApiKey(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + Buffer.from(randomBytes(RANDOM_BYTES)).toString('base64url');
}

/** The hash under which a key is stored and looked up: SHA-256, lower-case hex. */
export function hashApiKey(plain: string): string {
  return createHash('sha256').update(plain).digest('hex');
}

export function isSameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

const BEARER = /^bearer +(\S+) *$/i;

/** The token of an `Authorization: Bearer …` header; undefined if it has none. The scheme can be in upper or lower case. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.length > HEADER_CHARS_MAX) return undefined;
  return BEARER.exec(header)?.[1];
}
