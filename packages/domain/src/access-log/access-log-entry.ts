/** One request in an access log. Missing texts are empty. */
export interface AccessLogEntry {
  /** The client as the log names it: an address, or a host name if the server resolved the address. */
  readonly client: string;
  /** Unix milliseconds; NaN if the log has no valid time. */
  readonly timestamp: number;
  readonly method: string;
  /** The request's target: a path with its query, or a whole URL. */
  readonly target: string;
  readonly status: number;
  readonly host: string;
  readonly referrer: string;
  /** Undefined if the line has no field for the user agent (the common format). Empty if the client sent none (`-`). */
  readonly userAgent: string | undefined;
}
