const BASE32 = 'abcdefghijkmnpqrstuvwxyz23456789';

/** `<prefix>_` and 12 characters of 5 random bits each: short, safe in URLs, without letters that look alike. */
export function randomId(prefix: string, randomBytes: (length: number) => Uint8Array): string {
  return `${prefix}_${Array.from(randomBytes(12), (byte) => BASE32[byte & 31]).join('')}`;
}
