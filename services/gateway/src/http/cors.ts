/** The CORS header of all answers that browsers may read across origins: those of `/api/collect`, and the files of the snippet. */
export const ALLOW_ORIGIN = { 'Access-Control-Allow-Origin': '*' } as const;

/** Scripts of other origins can read the header `Retry-After` only if this header names it. */
export const EXPOSE_RETRY_AFTER = { 'Access-Control-Expose-Headers': 'Retry-After' } as const;

/** The methods and headers that browsers may use across origins. Browsers may cache them for up to a day. */
export const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'POST, OPTIONS',
  'Access-Control-Allow-Headers': 'Content-Type',
  'Access-Control-Max-Age': '86400',
} as const;

/** Headers in the form of `ServerResponse.writeHead`: names and values in turn. */
export function rawHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flat();
}
