import { createHmac } from 'node:crypto';
import { isSameHash } from '@weir/domain/registry/api-key';

/** A session, as the cookie states it. The signature of the cookie may not have been checked yet. */
export interface Session {
  /** 16 random bytes, base64url. */
  readonly sessionId: string;
  /** The credential that was used to sign in: `admin`, or the ID of a viewer. */
  readonly credential: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

export interface SigningKey {
  /** The secret that signs sessions, from the registry, hex. */
  readonly secret: string;
  /** SHA-256 of the token that was used to sign in, hex. A session therefore ends when its token changes. */
  readonly tokenHash: string;
}

export const ADMIN_CREDENTIAL = 'admin';

const TIME_BASE = 36;
const TEXT = /^1\.([A-Za-z0-9_-]{22})\.(admin|viewer_[a-z2-9]{12})\.([0-9a-z]{1,9})\.([0-9a-f]{64})$/;

/** The text of a cookie. It names the session, and nothing in it is secret except the signature. */
export function sessionText(session: Session, key: SigningKey): string {
  const signed = signedText(session);
  return `${signed}.${sign(signed, key)}`;
}

/** Reads the text of a cookie. Returns undefined if the text has another form. `isSigned` says whether the signature matches a key. */
export function readSessionText(
  text: string,
): { readonly session: Session; readonly isSigned: (key: SigningKey) => boolean } | undefined {
  const [, sessionId = '', credential = '', until = '', signature = ''] = TEXT.exec(text) ?? [];
  if (sessionId === '') return undefined;
  const session = { sessionId, credential, expiresAt: Number.parseInt(until, TIME_BASE) };
  return { session, isSigned: (key) => isSameHash(signature, sign(signedText(session), key)) };
}

function signedText({ sessionId, credential, expiresAt }: Session): string {
  return `1.${sessionId}.${credential}.${expiresAt.toString(TIME_BASE)}`;
}

function sign(text: string, { secret, tokenHash }: SigningKey): string {
  return createHmac('sha256', Buffer.from(secret, 'hex')).update(`${text}.${tokenHash}`).digest('hex');
}
