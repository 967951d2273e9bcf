import { OPERATIONS, type Operations } from './admin-types.ts';

export type OperationId = keyof typeof OPERATIONS;
export type Answer<Id extends OperationId> = Operations[Id]['data'];
export type QueryOf<Id extends OperationId> = Operations[Id]['query'];

export interface CallInput<Id extends OperationId> {
  /** The parameters of the path, such as `site_id`. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: QueryOf<Id>;
  readonly body?: Operations[Id]['body'];
  readonly signal?: AbortSignal;
}

/** An answer that is not a success. `status` is 0 if there was no answer. */
export class AdminError extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, message: string, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The message of an answer that is not from Weir: a proxy in front of Weir may answer with a page of its own. */
const FOREIGN = 'foreign';

const signedOutListeners = new Set<() => void>();
/** The requests that have no answer yet. */
const waiting = new Set<AbortController>();

/**
 * Aborts all requests that have no answer yet. Call it when the reader leaves the page: a browser has six connections to a host. If six slow
 * reports used all of them, the next page would wait until one of these reports is answered.
 */
export function abortCalls(): void {
  for (const controller of waiting) controller.abort();
}

/** Calls `listener` when the server refuses the session. Returns a function that removes the listener. */
export function onSignedOut(listener: () => void): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

/** The address of a call, with its query, relative to the origin. */
export function adminUrl<Id extends OperationId>(
  id: Id,
  { path = {}, query = {} as QueryOf<Id> }: CallInput<Id>,
): string {
  const filled = OPERATIONS[id][1].replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Readonly<Record<string, unknown>>)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== '') parameters.append(name, String(one));
    }
  }
  const text = parameters.toString();
  return `/api/admin${filled}${text === '' ? '' : `?${text}`}`;
}

/** Calls the admin API with the session cookie. Rejects with an `AdminError`, or with an `AbortError` if the signal aborts. */
export async function callAdmin<Id extends OperationId>(id: Id, input: CallInput<Id> = {}): Promise<Answer<Id>> {
  const reply = (await send(OPERATIONS[id][0], adminUrl(id, input), input.body, input.signal)) as { data: Answer<Id> };
  return reply.data;
}

/** Loads an answer that is a file. Rejects with an `AdminError`. */
export async function fetchFile(url: string): Promise<Blob> {
  return (await request('GET', url)).blob().catch(noAnswer());
}

/** Sends a request with the session cookie. Resolves with the JSON of a successful answer. */
async function send(method: string, url: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
  const response = await request(method, url, body, signal);
  const text = await response.text().catch(noAnswer(signal));
  const reply = parseJson(text);
  if (reply !== undefined || text === '') return reply ?? {};
  throw new AdminError(response.status, FOREIGN);
}

/** Sends a request with the session cookie. Resolves with an answer that is a success. */
async function request(method: string, url: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  signal?.addEventListener('abort', abort);
  waiting.add(controller);
  const response = await fetch(url, {
    method,
    credentials: 'same-origin',
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    signal: controller.signal,
  })
    .catch(noAnswer(signal))
    .finally(() => waiting.delete(controller));
  if (response.ok) return response;
  const reply = parseJson(await response.text().catch(noAnswer(signal)));
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (response.status === 401) for (const listener of signedOutListeners) listener();
  const message = (reply as { error?: { message?: string } } | undefined)?.error?.message;
  throw new AdminError(response.status, message ?? FOREIGN, Number.isNaN(retryAfter) ? undefined : retryAfter);
}

/** Replaces an error of the connection, which can also end within an answer. An abort by the caller stays as it is. */
const noAnswer = (signal?: AbortSignal) => (error: unknown) => {
  throw signal?.aborted ? error : new AdminError(0, 'offline');
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
