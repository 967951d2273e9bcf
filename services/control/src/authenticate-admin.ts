import { createHash, timingSafeEqual } from 'node:crypto';
import { bearerToken } from '@weir/domain/api-key';
import type { RequestHandler } from 'express';
import type { ControlDeps } from './control-deps.ts';
import { sendError } from './send.ts';

/**
 * `Authorization: Bearer <admin token>` and nothing else: no cookie, so no other site can make a browser use it. Wrong tokens
 * are not counted: at 16 random characters or more guessing is hopeless, and a count per address would lock owners out
 * together with whoever shares their proxy.
 */
export function authenticateAdmin({ adminToken }: Pick<ControlDeps, 'adminToken'>): RequestHandler {
  const expected = sha256(adminToken);
  return (request, response, next) => {
    const token = bearerToken(request.get('authorization'));
    // Hashes have one length, so comparing them tells nothing of the token's.
    if (token !== undefined && timingSafeEqual(sha256(token), expected)) {
      next();
      return;
    }
    response.set('WWW-Authenticate', 'Bearer');
    sendError(response, 401, 'missing or invalid admin token');
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
