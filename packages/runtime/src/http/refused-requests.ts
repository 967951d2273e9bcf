import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request that is malformed, too long or incomplete. The application does not answer it. */
export interface RefusedRequest {
  /** The connection is closed after this response. */
  readonly response: ServerResponse;
  /** The path without its query; empty if the path is not known. */
  readonly path: string;
  /** 405 means a method that Node's HTTP parser does not know. */
  readonly status: 400 | 405 | 408 | 413 | 431;
  readonly message: string;
}

/** Answers a refused request in the format of its endpoint. */
export type Refuse = (refused: RefusedRequest) => void;

/** The properties that Node's HTTP server adds to an error. */
interface ClientError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** The response to the latest request of a connection. With a `WeakMap`, each request would make garbage collections slower. */
const LATEST = Symbol('latest response');

type ServedSocket = Socket & { [LATEST]?: ServerResponse };

/** How long a connection stays open after the answer. If it were closed at once, a client that still sends could see a reset and not the answer. */
const LINGER_MS = 1_000;
const HEAD_BYTES_MAX = 64 * 1024;
const REQUEST_LINES = /(?<=^|\n)([A-Za-z]+) ((?:https?:\/)?\/[^ \r\n]*)/g;
const MALFORMED = { status: 400, message: 'the request is malformed' } as const;
const BY_CODE: Readonly<Record<string, Pick<RefusedRequest, 'status' | 'message'>>> = {
  HPE_INVALID_METHOD: { status: 405, message: 'the method is unknown' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'the request line and headers are too long' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'the chunk extensions are too long' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request took too long to arrive' },
};

/**
 * Answers with `refuse` the requests that Node would otherwise answer itself, without a body and without the headers of the endpoint:
 * requests whose head cannot be parsed or takes too long, and requests whose body is malformed, ends early or takes too long. The caller must
 * call the returned function with the response to each request that arrives.
 */
export function answerRefused(server: Server, refuse: Refuse): (response: ServerResponse) => void {
  const failed = new WeakSet<Socket>();

  server.on('connection', (socket: ServedSocket) => {
    const { destroySoon } = socket;
    // Node calls this after the last answer of a connection. If the application answered before the whole body arrived (for example 401), the rest
    // of the body must be read first: see `LINGER_MS`.
    socket.destroySoon = () => {
      if (socket[LATEST]?.req.complete === false) endAfterRest(socket);
      else destroySoon.call(socket);
    };
  });
  server.on('clientError', (error: ClientError, stream) => {
    const socket = stream as ServedSocket;
    if (failed.has(socket)) return;
    failed.add(socket);
    const response = socket[LATEST];
    const reason = BY_CODE[error.code ?? ''] ?? MALFORMED;
    if (response === undefined || response.destroyed) {
      // The error is in the rest of a request that was answered already.
      if (response?.req.complete === false) socket.destroySoon();
      else answerNext(socket, error, reason);
    } else if (response.req.complete) {
      // The error is in the next request of the connection (pipelining). It is answered after `response`, which belongs to the request before it.
      response.once('close', () => answerNext(socket, error, reason));
    } else {
      response.shouldKeepAlive = false;
      // The application may answer without the body (for example 401). `setImmediate` lets this answer go first.
      setImmediate(() => {
        if (response.headersSent) socket.destroySoon();
        else if (socket.writable) refuse({ response, path: pathOf(response.req.url ?? ''), ...reason });
      });
    }
  });

  function answerNext(socket: Socket, error: ClientError, reason: Pick<RefusedRequest, 'status' | 'message'>): void {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const sent = requestLine(error);
    const request = new http.IncomingMessage(socket);
    request.method = sent?.method ?? 'GET';
    request.httpVersionMajor = 1;
    request.httpVersionMinor = 1;
    refuse({ response: lastResponse(request), path: pathOf(sent?.target ?? ''), ...reason });
  }

  return (response) => {
    (response.req.socket as ServedSocket)[LATEST] = response;
  };
}

/** A response on a connection that Node's HTTP server does not serve any more. */
export function lastResponse(request: IncomingMessage): ServerResponse {
  const { socket } = request;
  const response = new http.ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => endAfterRest(socket));
  return response;
}

/** Closes the connection after the answer, but reads what the client still sends for up to `LINGER_MS`. */
function endAfterRest(socket: Socket): void {
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
  socket.end();
  socket.resume();
}

/** The path of a request's target, which can be a whole URL (RFC 9112, 3.2.2). */
export function pathOf(target: string): string {
  return originForm(target).replace(/[?#].*$/s, '');
}

/**
 * Returns the target as a path with its query. Express parses other targets with `url.parse`, which prints a warning with the whole
 * URL if it is invalid.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') || target === '') return target;
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The last request line that begins before the error. A packet can contain several requests, or only a part of one. */
function requestLine({
  rawPacket,
  bytesParsed = 0,
  code,
}: ClientError): { method: string; target: string } | undefined {
  const text = rawPacket?.toString('latin1', 0, HEAD_BYTES_MAX) ?? '';
  // If the method is unknown, the error is in the request line itself. Earlier lines belong to other requests.
  const from = code === 'HPE_INVALID_METHOD' ? text.lastIndexOf('\n', bytesParsed - 1) + 1 : 0;
  let found: { method: string; target: string } | undefined;
  for (const { index, 1: method = '', 2: target = '' } of text.matchAll(REQUEST_LINES)) {
    if (index > bytesParsed) break;
    if (index >= from) found = { method: method.toUpperCase(), target };
  }
  return found;
}
