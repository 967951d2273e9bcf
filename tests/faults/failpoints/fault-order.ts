import type { AppendFault } from '@weir/testkit/faulty-event-log';

/** The request of a test for a fault at a named point of a running Weir. */
export interface FaultOrder {
  /**
   * The name of a port's method, such as `append`: before the call. With `:done`, as in `append:done`: after the call. `outcome`: changes the
   * outcome of an append.
   */
  readonly point: string;
  /** A regular expression. It must match the topic of the call; for a commit, the topic, a space and the metadata. */
  readonly about: string;
  /** The fault happens at the nth call, counted from 1. */
  readonly nth: number;
  /** The number of consecutive calls at which it happens. */
  readonly times: number;
  /** `late`: the call waits `lateMs`. */
  readonly action: 'kill' | 'memory' | 'fail' | 'late';
  readonly lateMs: number;
  readonly outcome: AppendFault;
}
