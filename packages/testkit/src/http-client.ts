import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { parseJson } from '@weir/domain/json/json';

export interface HttpRequest {
  /** Default: POST if there is a body, otherwise GET. */
  readonly method?: string;
  readonly path: string;
  /** With a body, `content-type` is `application/json` by default. A header with an empty value is not sent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or a `Buffer` is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
  /** Sends the body without `Content-Length`, so that the server does not know its size in advance. */
  readonly chunked?: boolean;
  /** The time limit of a request. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Default: a new connection for each request, so that requests do not affect each other. */
  readonly agent?: Agent;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text parsed as JSON; `undefined` if it is empty or not JSON. */
  readonly json: unknown;
}

/**
 * Sends one request, and does not repeat it. Rejects if there is no complete answer: the connection was refused or lost, or the time
 * limit was exceeded.
 */
export function sendHttp(baseUrl: string, sent: HttpRequest): Promise<HttpAnswer> {
  const body = bodyBytes(sent.body);
  const headers: Record<string, string> = { ...sent.headers };
  if (body !== undefined && headers['content-type'] === undefined) headers['content-type'] = 'application/json';
  for (const name of Object.keys(headers)) if (headers[name] === '') delete headers[name];
  if (body !== undefined && sent.chunked !== true) headers['content-length'] = String(body.length);

  return new Promise((resolve, reject) => {
    const method = sent.method ?? (body === undefined ? 'GET' : 'POST');
    const outgoing = request(
      new URL(sent.path, baseUrl),
      { method, headers, agent: sent.agent ?? false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          clearTimeout(timer);
          const text = Buffer.concat(chunks).toString();
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json: parseJson(text) });
        });
      },
    );
    const timeoutMs = sent.timeoutMs ?? 30_000;
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`${method} ${sent.path}: no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    outgoing.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    if (body !== undefined) outgoing.write(body);
    outgoing.end();
  });
}

/** A TCP connection, for requests that an HTTP client would not send. */
export function openSocket(baseUrl: string): Socket {
  const { hostname, port } = new URL(baseUrl);
  return connect(Number(port), hostname);
}

/** One keep-alive connection, for one of many clients in a load test. */
export function keptConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}

function bodyBytes(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Reads one value of `/metrics`, by its name with its labels. NaN if it is not there. */
export async function readMetric(url: string, name: string): Promise<number> {
  const { text } = await sendHttp(url, { path: '/metrics' });
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  );
}
