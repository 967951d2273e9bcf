import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request that the HTTP server can't hand to the application. */
export interface RefusedRequest {
  /** Of the request's own connection, which is closed after it. */
  readonly response: ServerResponse;
  /** Without its query; empty where too little was read to know. */
  readonly path: string;
  /** 405: a method that the server has never heard of. */
  readonly status: 400 | 405 | 408 | 413 | 431;
  readonly message: string;
}

/** Answers it, in the way of the endpoint that was meant. */
export type Refuse = (refused: RefusedRequest) => void;

/** What Node's server hands over, beside the socket's own errors. */
interface ClientError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** How long a sender may go on before its connection is cut: closed at once, it would see a reset and not the answer. */
const LINGER_MS = 1_000;
const HEAD_BYTES_MAX = 64 * 1024;
const REQUEST_LINES = /(?<=^|\n)([A-Za-z]+) ((?:https?:\/)?\/[^ \r\n]*)/g;
const MALFORMED = { status: 400, message: 'the request is malformed' } as const;
const BY_CODE: Readonly<Record<string, Pick<RefusedRequest, 'status' | 'message'>>> = {
  HPE_INVALID_METHOD: { status: 405, message: 'the method is not known' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'the request line and headers are too long' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'the chunk extensions are too long' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request took too long to arrive' },
};

/**
 * Answers what Node would answer by itself, without a body and without the endpoint's headers: heads that can't be read, bodies
 * that break off or take too long. Returns a function that has to hear of every request that does arrive.
 */
export function answerRefused(server: Server, refuse: Refuse): (response: ServerResponse) => void {
  const latest = new WeakMap<Socket, ServerResponse>();
  const failed = new WeakSet<Socket>();

  server.on('clientError', (error: ClientError, stream) => {
    const socket = stream as Socket;
    if (failed.has(socket)) return;
    failed.add(socket);
    const response = latest.get(socket);
    const reason = BY_CODE[error.code ?? ''] ?? MALFORMED;
    if (response === undefined || response.destroyed) {
      // What comes after an answer, within one request, has been answered.
      if (response?.req.complete === false) socket.destroySoon();
      else answerAnew(socket, error, reason);
    } else if (response.req.complete) {
      // The fault is of a request that was sent ahead of this one's answer.
      response.once('close', () => answerAnew(socket, error, reason));
    } else {
      response.shouldKeepAlive = false;
      // The application answers first where it needs no body for that: no key, or over the limit.
      setImmediate(() => {
        if (response.headersSent) socket.destroySoon();
        else if (socket.writable) refuse({ response, path: pathOf(response.req.url ?? ''), ...reason });
      });
    }
  });

  function answerAnew(socket: Socket, error: ClientError, reason: Pick<RefusedRequest, 'status' | 'message'>): void {
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

  return (response) => latest.set(response.req.socket, response);
}

/** A response on a connection that Node's server serves no longer. */
export function lastResponse(request: IncomingMessage): ServerResponse {
  const { socket } = request;
  const response = new http.ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    const cut = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(cut));
    socket.end();
    socket.resume();
  });
  return response;
}

/** The path of a request's target, which may be a whole URL (RFC 9112, 3.2.2). */
export function pathOf(target: string): string {
  return originForm(target).replace(/[?#].*$/s, '');
}

/**
 * The target as a path with its query. What is left of Express reads anything else with `url.parse`, which prints a warning,
 * with the whole URL, of each one that it finds wrong.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') || target === '') return target;
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The last request line that begins before the fault: a packet may hold several requests, or none's beginning. */
function requestLine({
  rawPacket,
  bytesParsed = 0,
  code,
}: ClientError): { method: string; target: string } | undefined {
  const text = rawPacket?.toString('latin1', 0, HEAD_BYTES_MAX) ?? '';
  // A method that is not known is at fault itself: the line before is another request's.
  const from = code === 'HPE_INVALID_METHOD' ? text.lastIndexOf('\n', bytesParsed - 1) + 1 : 0;
  let found: { method: string; target: string } | undefined;
  for (const { index, 1: method = '', 2: target = '' } of text.matchAll(REQUEST_LINES)) {
    if (index > bytesParsed) break;
    if (index >= from) found = { method: method.toUpperCase(), target };
  }
  return found;
}
