/** The client IP of a request and where it was found. */
export interface ClientIp {
  /** The normalised client IP. Empty if the connection is already closed. */
  readonly address: string;
  /** The header that contained the client IP, in lower case. Empty if the client IP is the address of the connection. */
  readonly header: string;
  /** The address of the connection's other end. */
  readonly peer: string;
  /** True if the peer is a trusted proxy, whose headers are used. */
  readonly peerTrusted: boolean;
}
