import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface HttpRequest {
  /** Default: POST with a body, else GET. */
  readonly method?: string;
  readonly path: string;
  /** `content-type` is `application/json` where a body is sent and the header is not named; an empty value leaves a header out. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or bytes go out as they are, anything else as its JSON. */
  readonly body?: unknown;
  /** Without `Content-Length`: the server can't know the size beforehand. */
  readonly chunked?: boolean;
  /** Default 30 s. */
  readonly timeoutMs?: number;
  /** Default: one connection for each request, so that no answer depends on another. */
  readonly agent?: Agent;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text as JSON; `undefined` where there is no body. */
  readonly json: unknown;
}

/** One request, exactly as given. Rejects when no whole answer came: connection refused or lost, or the time-out. */
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
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json: parseOrUndefined(text) });
        });
      },
    );
    const timeoutMs = sent.timeoutMs ?? 30_000;
    const timer = setTimeout(() => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
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

function parseOrUndefined(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
