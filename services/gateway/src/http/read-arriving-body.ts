import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Sender } from '../admission/waiting-room.ts';
import type { Body } from './read-request-body.ts';

/** A request whose body is read before its rate limit is checked. */
export interface ArrivingRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The limit of the body. A body of unknown length counts as this many bytes. */
  readonly bytesMax: number;
}

/**
 * Reads a body with `read`. The body counts as waiting for `sender` until the result of `read` is there, or the connection is closed. Returns
 * undefined, without a call of `read`, if `sender` has no room for it.
 */
export function readArrivingBody(
  sender: Sender,
  { request, response, bytesMax }: ArrivingRequest,
  read: () => Body | Promise<Body>,
): Body | Promise<Body> | undefined {
  const bytes = Math.min(Number(request.headers['content-length'] ?? bytesMax), bytesMax);
  if (!sender.enter(bytes)) return undefined;
  let isArriving = true;
  const leave = (): void => {
    if (isArriving) sender.leave(bytes);
    isArriving = false;
  };
  const body = read();
  if (!(body instanceof Promise)) {
    leave();
    return body;
  }
  // If the body does not arrive completely, the promise of `read` never settles. A refusal (refused-requests.ts) closes only the response. If
  // another response of the connection comes first (pipelining), only the request is closed.
  const gone = (): void => {
    if (!request.complete) leave();
  };
  request.once('close', gone);
  response.once('close', gone);
  return body.finally(leave);
}
