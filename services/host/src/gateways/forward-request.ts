import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { createReplies } from '@weir/gateway/http/gateway-reply';
import type { Handle } from '@weir/gateway/http/route';
import { PEER_HEADER } from './forwarded-server.ts';

/**
 * Headers that are not passed on. Most of them belong to one connection (RFC 9110, 7.6.1). This process has already handled `expect`. Only this file
 * may set `PEER_HEADER`.
 */
const OWN_CONNECTION = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  PEER_HEADER,
]);
const RETRY_AFTER_SECONDS = 1;

/**
 * Passes a request to the main process, which listens on a Unix socket, and passes the answer back, both as streams. The headers of the connection
 * are replaced, and `PEER_HEADER` is added. The other headers are passed on unchanged. Each request has a connection of its own, which this process
 * closes after the answer: these requests are rare, and a kept connection could be closed at the moment at which it is used again.
 */
export function createForward(mainSocket: string): Handle {
  const replies = createReplies('other', () => undefined);
  return (request, response) => {
    // The target of CONNECT is a host and not a path, so no route has it.
    if (request.method === 'CONNECT') return replies.error(response, 404, 'no such path');
    const sent = http.request({
      socketPath: mainSocket,
      agent: false,
      method: request.method,
      path: request.url,
      headers: requestHeaders(request),
    });
    // If the client closes its connection, the main process also loses its connection, and stops its work for this request. If the answer came
    // before the whole body (for example 401), the rest of the body is read, because the client may send a next request after it.
    response.once('close', () => {
      request.unpipe(sent).resume();
      sent.destroy();
    });
    sent.once('response', (answer) => passBack(answer, response));
    sent.on('error', () => {
      if (response.headersSent || response.destroyed) return;
      const text = 'the main process of Weir does not answer; send the request again';
      replies.error(response, 503, text, ['Retry-After', String(RETRY_AFTER_SECONDS)]);
    });
    request.pipe(sent);
  };
}

function passBack(answer: IncomingMessage, response: ServerResponse): void {
  // The HTTP server of this process has answered already, for example because the body of the request took too long to arrive.
  if (response.headersSent) {
    answer.destroy();
    return;
  }
  response.writeHead(answer.statusCode ?? 500, answer.statusMessage, ownHeaders(answer));
  // Sends the headers at once, because the first bytes of an event stream may come much later.
  response.flushHeaders();
  answer.on('error', () => response.destroy());
  answer.pipe(response);
}

function requestHeaders(request: IncomingMessage): string[] {
  const { headers, socket } = request;
  // The main process must not close the connection itself. Otherwise a write of this process, such as Node's empty last write, could fail with EPIPE
  // before this process has read the answer.
  const sent = [...ownHeaders(request), PEER_HEADER, socket.remoteAddress ?? '', 'Connection', 'keep-alive'];
  // HTTP/1.0 allows requests without a host.
  if (headers.host === undefined) sent.push('Host', '');
  if (headers['transfer-encoding'] !== undefined) sent.push('Transfer-Encoding', 'chunked');
  // Without a length, Node would send the empty body in chunks.
  else if (headers['content-length'] === undefined) sent.push('Content-Length', '0');
  return sent;
}

/** The headers that are passed on: names and values in turn, as they were received. */
function ownHeaders({ rawHeaders }: IncomingMessage): string[] {
  const kept: string[] = [];
  for (let nth = 0; nth < rawHeaders.length; nth += 2) {
    const [name = '', value = ''] = [rawHeaders[nth], rawHeaders[nth + 1]];
    if (!OWN_CONNECTION.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
