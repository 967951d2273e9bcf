import type { IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { CliConfig } from './cli-config.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { openAnswer } from './open-answer.ts';

const CALL_TIMEOUT_MS = 60_000;
/** The `timeoutMs` of calls that read whole tables. */
export const LONG_CALL_TIMEOUT_MS = 600_000;

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface AdminClient {
  /** Resolves with the `data` of the answer. Rejects with `AdminRefusal` when Weir refuses the call, otherwise with `CliError`. */
  call<T>(method: HttpMethod, path: string, body?: object, timeoutMs?: number): Promise<T>;
  /** Resolves when the whole answer is written to `to`. Rejects as `call` does, and with `CliError` if the answer is incomplete. */
  download(path: string, to: Writable): Promise<void>;
  /** Resolves with the bytes of a file. The stream ends with an error if the file is incomplete. Rejects as `call` does. */
  open(path: string, signal?: AbortSignal): Promise<Readable>;
}

export class AdminRefusal extends CliError {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, status: number, retryAfterSeconds: number | undefined) {
    super(message, status === 503 ? EXIT.unreachable : EXIT.failed);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The connection was closed before there was an answer. Weir can have carried out the call. */
export class ConnectionCut extends CliError {}

interface Envelope {
  readonly status?: string;
  readonly data?: unknown;
  readonly error?: { readonly message?: string };
}

export function createAdminClient(config: CliConfig): AdminClient {
  const { url, adminToken } = config;
  const authorization = `Bearer ${adminToken}`;

  async function open(path: string, signal?: AbortSignal): Promise<Readable> {
    const refused = await reach(url, async () => {
      const answer = await openAnswer(`${url}/api/admin${path}`, {
        headers: { authorization },
        ...(signal && { signal }),
      });
      // A web page is the answer of another server, or of the dashboard if WEIR_URL contains its path.
      const isPage = /^text\/html/i.test(answer.headers['content-type'] ?? '');
      return answer.statusCode === 200 && !isPage ? answer : readWhole(answer);
    });
    if (refused instanceof Readable) return refused;
    throw refusal(config, refused, parseEnvelope(refused.text));
  }

  return {
    open,
    async call<T>(method: HttpMethod, path: string, body?: object, timeoutMs?: number): Promise<T> {
      const init = {
        method,
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs ?? CALL_TIMEOUT_MS),
      };
      const target = `${url}/api/admin${path}`;
      const send = async () =>
        timeoutMs === undefined ? fetchWhole(target, init) : readWhole(await openAnswer(target, init));
      const response = await reach(url, send, timeoutMs);
      const envelope = parseEnvelope(response.text);
      if (envelope?.status === 'success') return envelope.data as T;
      throw refusal(config, response, envelope);
    },
    async download(path, to) {
      const answer = await open(path);
      try {
        await pipeline(answer, to, { end: false });
      } catch (error) {
        // A `CliError` comes from `to`: the output cannot be written.
        if (error instanceof CliError) throw error;
        throw new CliError(`the answer of Weir is cut off: ${messageOf(error)}; ask again`, EXIT.unreachable);
      }
    },
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterSeconds: number | undefined;
  /** The target of a redirect. */
  readonly location: string | undefined;
}

async function readWhole(answer: IncomingMessage): Promise<Answer> {
  const { location, 'retry-after': retryAfter } = answer.headers;
  return {
    status: answer.statusCode ?? 0,
    text: await text(answer),
    retryAfterSeconds: secondsOf(retryAfter),
    location,
  };
}

async function fetchWhole(url: string, init: RequestInit): Promise<Answer> {
  // After a redirect to another origin, `fetch` would send the call without the token. So redirects are not followed.
  const response = await fetch(url, { ...init, redirect: 'manual' });
  return {
    status: response.status,
    text: await response.text(),
    retryAfterSeconds: secondsOf(response.headers.get('retry-after')),
    location: response.headers.get('location') ?? undefined,
  };
}

function secondsOf(retryAfter: string | null | undefined): number | undefined {
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}

async function reach<T>(url: string, work: () => Promise<T>, timeoutMs = CALL_TIMEOUT_MS): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unreachable(url, error, timeoutMs);
  }
}

function unreachable(url: string, error: unknown, timeoutMs: number): CliError {
  if (isTimeout(error)) {
    return new CliError(
      `Weir at ${url} has not answered within ${timeoutMs / 1000} s, and can still be working on the call: check its log and the load of ClickHouse`,
      EXIT.unreachable,
    );
  }
  if (NO_TLS.test(messageOf(error))) {
    return new CliError(
      `can't reach Weir at ${url}: the server there answers without TLS; set WEIR_URL to an address that begins with http://`,
      EXIT.unreachable,
    );
  }
  const kind = CUT_CODES.has(codeOf(error)) ? ConnectionCut : CliError;
  return new kind(
    `can't reach Weir at ${url}: ${messageOf(error)}; check that Weir runs there, or set WEIR_URL`,
    EXIT.unreachable,
  );
}

/** What OpenSSL says if the answer to its first message is not TLS but, for example, HTTP. */
const NO_TLS = /wrong version number|packet length too long|http request/i;

function isTimeout(error: unknown): boolean {
  const { name, cause } = error as { name?: string; cause?: { name?: string } };
  return name === 'TimeoutError' || cause?.name === 'TimeoutError';
}

const CUT_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function codeOf(error: unknown): unknown {
  return rootOf(error).code;
}

function messageOf(error: unknown): string {
  const { message, code } = rootOf(error);
  // OpenSSL ends its messages with a line break.
  return (message || String(code ?? error)).trim().replaceAll('\n', ' ');
}

/** The error that `fetch` names as the cause of its own error, otherwise the error itself. */
function rootOf(error: unknown): { readonly message?: string; readonly code?: unknown } {
  const { cause } = Object(error) as { readonly cause?: unknown };
  return Object(cause ?? error);
}

function refusal({ url, tokenFrom }: CliConfig, answer: Answer, envelope: Envelope | undefined): CliError {
  const { status, retryAfterSeconds, location } = answer;
  if (envelope === undefined) {
    const redirect = location === undefined ? '' : `, redirect to ${location}`;
    return new CliError(
      `the server at ${url} is not Weir (status ${status}${redirect}): check WEIR_URL`,
      EXIT.unreachable,
    );
  }
  if (status === 401) {
    return new AdminRefusal(
      `Weir at ${url} does not accept the admin token from ${tokenFrom}: set WEIR_ADMIN_TOKEN to the token of this Weir`,
      status,
      retryAfterSeconds,
    );
  }
  return new AdminRefusal(envelope.error?.message ?? `Weir answered ${status}`, status, retryAfterSeconds);
}

function parseEnvelope(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'status' in value ? (value as Envelope) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
