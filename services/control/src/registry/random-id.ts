const BASE32 = 'abcdefghijkmnpqrstuvwxyz23456789';

/**
 * Creates `<prefix>_` and 12 characters of 5 random bits each. The ID is short, safe in URLs, and has no letters that look
 * alike.
 */
export function randomId(prefix: string, randomBytes: (length: number) => Uint8Array): string {
  return `${prefix}_${Array.from(randomBytes(12), (byte) => BASE32[byte & 31]).join('')}`;
}
