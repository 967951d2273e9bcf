/** One request, as a log tells it. Absent texts are empty. */
export interface AccessLogEntry {
  /** As in the log: an address, or a host name where the server looked it up. */
  readonly client: string;
  /** Unix milliseconds; NaN where it can't be read. */
  readonly timestamp: number;
  readonly method: string;
  /** The request's target: a path with its query, or a whole URL. */
  readonly target: string;
  readonly status: number;
  readonly host: string;
  readonly referrer: string;
  readonly userAgent: string;
}
