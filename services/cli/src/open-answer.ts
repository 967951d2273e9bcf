import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** How often the system checks the connection while no data arrives. Without this check, the command would wait forever if Weir's machine is gone. */
const KEEP_ALIVE_MS = 60_000;

/**
 * Resolves with the answer to a request when its headers have arrived. There is no time limit, except that of `signal`: before the first row of an
 * export, and between two rows, ClickHouse can work for a long time. `fetch` of Node has limits of 300 s that cannot be changed.
 */
export async function openAnswer(
  url: string,
  { body, ...options }: Pick<RequestOptions, 'method' | 'headers' | 'signal'> & { readonly body?: string },
): Promise<IncomingMessage> {
  const send = new URL(url).protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send(url, { ...options, agent: false });
  request.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  request.end(body);
  const [answer] = await answered;
  // `once` has removed its own listener, and an `error` event without a listener would throw. The stream of the answer reports the same error.
  request.on('error', () => undefined);
  return answer;
}
