/** The client IP of a request and where it was found. */
export interface ClientIp {
  /** The normalised client IP. Empty if the connection is already closed. */
  readonly address: string;
  /** The header that contained the client IP, in lower case. Empty: it is the address of the connection. */
  readonly header: string;
  /** The address of the connection's other end. */
  readonly peer: string;
  /** The peer is a trusted proxy: its headers are used. */
  readonly peerTrusted: boolean;
}
