/**
 * The result of an attempt. After `retry`, the same request can succeed later. After `refused`, it fails again. `fits` is in the result if the
 * response has headers about the rate limit: the number of events that are left now (`retry`), or the limit itself (`refused`).
 */
export type Attempt =
  | { readonly outcome: 'done'; readonly json: unknown; readonly afterMs?: number }
  | { readonly outcome: 'refused'; readonly status: number; readonly message: string; readonly fits?: number }
  | { readonly outcome: 'retry'; readonly reason: string; readonly afterMs?: number; readonly fits?: number };

/** The longest time of a timer. For a longer time, setTimeout fires at once. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

export type Post = (path: string, body: string) => Promise<Attempt>;

export interface TransportOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
}

/**
 * Returns a function that sends one attempt with `fetch`, on Node, Deno, Bun and edge runtimes. The returned function never rejects.
 * `createTransport` throws for an invalid URL, key or timeout, because otherwise each attempt would look like a network error or be refused.
 */
export function createTransport({ url, apiKey, timeoutMs, fetch }: TransportOptions): Post {
  const base = baseOf(url);
  // Without type checks, a caller can pass a variable of the environment that is not set.
  const key = (apiKey ?? '').trim();
  if (key === '') throw new TypeError('apiKey is missing or empty: pass an API key of the site (`weir key add`)');
  if (/[^ -~]/.test(key)) throw new TypeError('apiKey has characters that an API key cannot have');
  if (!(Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= TIMER_MAX_MS)) {
    const given = `the ${typeof timeoutMs} ${timeoutMs}`;
    throw new TypeError(`timeoutMs must be a whole number from 1 to ${TIMER_MAX_MS}, not ${given}`);
  }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return async (path, body) => {
    let response: Response;
    let text: string;
    try {
      response = await fetch(base + path, {
        method: 'POST',
        headers,
        body,
        // Redirects are not followed: fetch would turn the POST into a GET.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      text = await response.text();
    } catch (error) {
      return { outcome: 'retry', reason: reasonOf(error) };
    }
    const { status } = response;
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const after = seconds > 0 ? { afterMs: seconds * 1000 } : {};
    if (status === 408 || status === 429 || status >= 500) {
      return { outcome: 'retry', reason: `status ${status}`, ...after, ...fitting(response, 'ratelimit-remaining') };
    }
    const json = parseOrUndefined(text);
    if (!response.ok) {
      return { outcome: 'refused', status, message: messageOf(json, text), ...fitting(response, 'ratelimit-limit') };
    }
    // A proxy can answer 200 in place of Weir. Its body differs from that of Weir, so the call is sent again.
    return isSuccess(json)
      ? { outcome: 'done', json, ...after }
      : { outcome: 'retry', reason: 'not an answer of Weir' };
  };
}

/** `fetch` of Node reports only "fetch failed". Its cause has the reason: a message or, if several addresses were tried, only a code. */
function reasonOf(error: unknown): string {
  const cause = (error as { readonly cause?: unknown } | null)?.cause ?? error;
  const { message, code } = (cause ?? {}) as { readonly message?: string; readonly code?: string };
  return message || code || String(cause);
}

/** The origin and the path prefix of a URL, without trailing slashes. */
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

function fitting({ headers }: Response, name: string): { readonly fits?: number } {
  const fits = Number(headers.get(name) ?? Number.NaN);
  return Number.isSafeInteger(fits) && fits > 0 ? { fits } : {};
}

/** The error message in a response. The error bodies of the endpoints differ (docs/api.md, Answers). */
function messageOf(json: unknown, text: string): string {
  const { error } = (json ?? {}) as { error?: string | { message?: string } };
  return typeof error === 'string' ? error : (error?.message ?? text.slice(0, 200));
}
