import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IdentityVerification } from '../registry/site.ts';

const PREFIX = 'wis_';
const RANDOM_BYTES = 32;
const SIGNATURE = /^[0-9a-f]{64}$/i;

/**
 * What the gateway found out about a browser's identify: `signed`: its signature is valid; `refused`: it is not, and the site requires one.
 * Undefined: the identify is not authenticated. It is part of the raw record, so a replay needs no secret and gives the same outcome.
 */
export type IdentityProof = 'signed' | 'refused' | undefined;

/** A new identity secret. Servers use the whole text as the key, its prefix included. */
export function newIdentitySecret(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + Buffer.from(randomBytes(RANDOM_BYTES)).toString('base64url');
}

/** HMAC-SHA256(secret, user ID), as the 32 bytes that a signature is the hex of. */
function signatureOf(secret: string, userId: string): Buffer {
  return createHmac('sha256', secret).update(userId).digest();
}

/** Compares in constant time. */
export function proveIdentity(
  verification: IdentityVerification | undefined,
  userId: string,
  signature: string,
): IdentityProof {
  if (verification === undefined) return undefined;
  const { secret, required } = verification;
  const isSigned =
    SIGNATURE.test(signature) && timingSafeEqual(Buffer.from(signature, 'hex'), signatureOf(secret, userId));
  if (isSigned) return 'signed';
  return required ? 'refused' : undefined;
}
