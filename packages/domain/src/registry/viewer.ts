const PREFIX = 'wv_';
const RANDOM_BYTES = 32;
const SHOWN_CHARS = 8;

/** A person or a program that can read the reports of one site and nothing else. Times in this file are Unix milliseconds. */
export interface Viewer {
  readonly viewerId: string;
  readonly siteId: string;
  readonly name: string;
  /** SHA-256 of the token, lower-case hex. The token is never stored. */
  readonly hash: string;
  /** The first characters of the token, so that a person recognises it. */
  readonly prefix: string;
  readonly createdAt: number;
}

/** A new token. It is shown once. */
export function newViewerToken(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + Buffer.from(randomBytes(RANDOM_BYTES)).toString('base64url');
}

export function tokenPrefix(token: string): string {
  return token.slice(0, SHOWN_CHARS);
}

/** The secret with which all processes sign the session cookies of signed-in users (services/control/src/sign-in/session-text.ts). */
export interface SessionSecret {
  /** 32 random bytes, hex. */
  readonly secret: string;
  readonly createdAt: number;
}

/** A session that was signed out before it expired, or all earlier sessions of a credential. */
export interface SignedOut {
  /**
   * The ID of the session. It can also be a credential (`admin`, or the ID of a viewer): then all sessions of this credential that expire at
   * `expiresAt` or earlier were signed out.
   */
  readonly sessionId: string;
  readonly expiresAt: number;
}

/** The last known use of an API key or of the token of a viewer. Weir stores at most one use per hour. */
export interface TokenUse {
  readonly siteId: string;
  readonly id: string;
  readonly at: number;
}
