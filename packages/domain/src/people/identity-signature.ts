import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IdentityVerification } from '../registry/site.ts';

const PREFIX = 'wis_';
const RANDOM_BYTES = 32;
const SIGNATURE = /^[0-9a-f]{64}$/i;

/**
 * The result of checking the signature of a browser's identify (docs/glossary.md). `signed`: the signature is valid. `refused`: it is not
 * valid, and the site requires a valid one. Undefined: the site has no secret, or the signature is not valid and the site does not require
 * one. The raw record contains the result, so a replay needs no secret and has the same outcome.
 */
export type IdentityProof = 'signed' | 'refused' | undefined;

/** Returns a new identity secret. Servers use the whole text as the HMAC key, including its prefix. */
export function newIdentitySecret(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + Buffer.from(randomBytes(RANDOM_BYTES)).toString('base64url');
}

/** HMAC-SHA256(secret, user ID), 32 bytes. Callers send it as hex. */
function signatureOf(secret: string, userId: string): Buffer {
  return createHmac('sha256', secret).update(userId).digest();
}

/** Checks the signature of an identify, in constant time. */
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
