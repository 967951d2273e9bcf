import type { CliConfig } from './cli-config.ts';
import { CliError, EXIT } from './exit-codes.ts';

const CALL_TIMEOUT_MS = 60_000;

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface AdminClient {
  /** Resolves with the `data` of the answer. Rejects with `AdminRefusal` when Weir refuses the call, otherwise with `CliError`. */
  call<T>(method: HttpMethod, path: string, body?: object): Promise<T>;
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

interface Envelope {
  readonly status?: string;
  readonly data?: unknown;
  readonly error?: { readonly message?: string };
}

export function createAdminClient({ url, adminToken }: CliConfig): AdminClient {
  return {
    async call<T>(method: HttpMethod, path: string, body?: object): Promise<T> {
      const response = await request(url, `/api/admin${path}`, {
        method,
        headers: { authorization: `Bearer ${adminToken}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      });
      const envelope = parseEnvelope(response.text);
      if (envelope === undefined) {
        throw new CliError(
          `the server at ${url} is not Weir (status ${response.status}): check WEIR_URL`,
          EXIT.unreachable,
        );
      }
      if (envelope.status === 'success') return envelope.data as T;
      const message = envelope.error?.message ?? `Weir answered ${response.status}`;
      throw new AdminRefusal(message, response.status, response.retryAfterSeconds);
    },
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterSeconds: number | undefined;
}

async function request(url: string, path: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url + path, init);
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      status: response.status,
      text: await response.text(),
      retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
    };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : String(cause);
    throw new CliError(
      `can't reach Weir at ${url}: ${why}; check that Weir runs there, or set WEIR_URL`,
      EXIT.unreachable,
    );
  }
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
