/** How an attempt ended: `retry` may be tried again without harm, `refused` may not. */
export type Attempt =
  | { readonly outcome: 'done'; readonly json: unknown; readonly afterMs?: number }
  | { readonly outcome: 'refused'; readonly status: number; readonly message: string }
  | { readonly outcome: 'retry'; readonly reason: string; readonly afterMs?: number };

export type Post = (path: string, body: string) => Promise<Attempt>;

export interface TransportOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
}

/**
 * One attempt over HTTP, with fetch alone: the same on Node, Deno, Bun and edge runtimes. Never rejects. A URL or a key that no
 * request can be made of throws here: each attempt would fail as if the network did.
 */
export function createTransport({ url, apiKey, timeoutMs, fetch }: TransportOptions): Post {
  const base = baseOf(url);
  const authorization = `Bearer ${apiKey}`.trim();
  if (/[^ -~]/.test(authorization)) throw new TypeError('apiKey has characters that no key has');
  const headers = { authorization, 'content-type': 'application/json' };
  return async (path, body) => {
    let response: Response;
    let text: string;
    try {
      response = await fetch(base + path, {
        method: 'POST',
        headers,
        body,
        // A redirected POST would arrive as a GET.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      text = await response.text();
    } catch (error) {
      return { outcome: 'retry', reason: error instanceof Error ? error.message : String(error) };
    }
    const { status } = response;
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const after = seconds > 0 ? { afterMs: seconds * 1000 } : {};
    if (status === 408 || status === 429 || status >= 500) {
      return { outcome: 'retry', reason: `status ${status}`, ...after };
    }
    const json = parseOrUndefined(text);
    if (!response.ok) return { outcome: 'refused', status, message: messageOf(json, text) };
    // Something between may answer 200 in Weir's place.
    return isSuccess(json)
      ? { outcome: 'done', json, ...after }
      : { outcome: 'retry', reason: 'not an answer of Weir' };
  };
}

/** With the path that a proxy may have put before Weir's own. */
function baseOf(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new TypeError(`url must be an http(s) URL, not "${url}"`);
  }
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSuccess(json: unknown): boolean {
  return (json as { status?: unknown } | undefined | null)?.status === 'success';
}

/** The envelopes of the endpoints differ (api.md 7). */
function messageOf(json: unknown, text: string): string {
  const { error } = (json ?? {}) as { error?: string | { message?: string } };
  return typeof error === 'string' ? error : (error?.message ?? text.slice(0, 200));
}
