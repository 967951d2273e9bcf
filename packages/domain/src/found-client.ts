/** How a request's client was found. */
export interface FoundClient {
  /** Normalised; empty where the connection is gone. */
  readonly address: string;
  /** The header that gave the address, in lower case; empty: the connection did. */
  readonly header: string;
  /** The other end of the connection. */
  readonly peer: string;
  /** Headers of this peer are believed. */
  readonly peerTrusted: boolean;
}
