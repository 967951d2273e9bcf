/** What a route answers, in the envelope of decisions.md (Admin API). */
export type Reply =
  | { readonly status: 200 | 201; readonly data: unknown }
  | { readonly status: 400 | 404 | 409 | 503; readonly message: string; readonly retryAfterSeconds?: number };

export const ok = (data: unknown): Reply => ({ status: 200, data });
export const created = (data: unknown): Reply => ({ status: 201, data });
export const invalid = (message: string): Reply => ({ status: 400, message });
export const notFound = (what: string): Reply => ({ status: 404, message: `${what} not found` });
export const conflict = (message: string): Reply => ({ status: 409, message });
/** A conflict that goes away by itself. */
export const busy = (message: string): Reply => ({ status: 409, message, retryAfterSeconds: 1 });
export const unavailable = (message: string, retryAfterSeconds = 1): Reply => ({
  status: 503,
  message,
  retryAfterSeconds,
});

export function isReply(value: object): value is Reply {
  return 'status' in value && ('data' in value || 'message' in value);
}
