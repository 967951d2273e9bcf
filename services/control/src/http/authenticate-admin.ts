import { createHash, timingSafeEqual } from 'node:crypto';
import { bearerToken } from '@weir/domain/registry/api-key';
import type { RequestHandler } from 'express';
import type { ControlDeps } from '../control-deps.ts';
import { sendError } from './admin-reply.ts';

/**
 * Accepts only `Authorization: Bearer <admin token>`. There is no cookie, so other sites cannot make a browser use the admin API.
 * Wrong tokens are not rate-limited: a token has at least 16 characters and cannot be guessed, and a limit per address would also
 * lock out operators behind the same proxy.
 */
export function authenticateAdmin({ adminToken }: Pick<ControlDeps, 'adminToken'>): RequestHandler {
  const expected = sha256(adminToken);
  return (request, response, next) => {
    const token = bearerToken(request.get('authorization'));
    // timingSafeEqual needs equal lengths. Hashes also hide the length of the token.
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
