import { createHash, timingSafeEqual } from 'node:crypto';
import { bearerToken } from '@weir/domain/api-key';
import type { RequestHandler } from 'express';
import type { ControlDeps } from './control-deps.ts';
import { sendError } from './send.ts';
import { createSignInLimit } from './sign-in-limit.ts';

/**
 * `Authorization: Bearer <admin token>` and nothing else: no cookie, so no other site can make a browser use it.
 * An address with 30 wrong tokens within a minute waits for the end of it, whatever it sends.
 */
export function authenticateAdmin(deps: Pick<ControlDeps, 'adminToken' | 'clock' | 'clientAddress'>): RequestHandler {
  const expected = sha256(deps.adminToken);
  const limit = createSignInLimit(deps.clock);
  return (request, response, next) => {
    const address = deps.clientAddress?.(request) ?? request.socket.remoteAddress ?? '';
    const wait = limit.waitSeconds(address);
    if (wait > 0) {
      response.set('Retry-After', String(wait));
      sendError(response, 429, 'too many failed sign-ins from this address');
      return;
    }
    const token = bearerToken(request.get('authorization'));
    // Hashes have one length, so comparing them tells nothing of the token's.
    if (token !== undefined && timingSafeEqual(sha256(token), expected)) {
      next();
      return;
    }
    if (token !== undefined) limit.failed(address);
    response.set('WWW-Authenticate', 'Bearer');
    sendError(response, 401, 'missing or invalid admin token');
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
