import type { AppendFault } from '@weir/testkit/faulty-event-log';

/** The request of a test for a fault at a named point of a running Weir. */
export interface FaultOrder {
  /**
   * The name of a port's method, such as `append`: the fault happens before the call. With `:done`, as in `append:done`: after the call. The name
   * `outcome` changes the result of an append to that of the field `outcome`.
   */
  readonly point: string;
  /** A regular expression for a text of the call. Of an append: the topic. Of a commit: topic, space, metadata. Of other calls: the empty text. */
  readonly about: string;
  /** The fault happens at the nth call, counted from 1. */
  readonly nth: number;
  /** The number of consecutive calls at which the fault happens. */
  readonly times: number;
  /**
   * `kill`: the process kills itself. `memory`: the process uses memory until V8 ends it. `fail`: the call throws. `late`: the call waits
   * `lateMs`.
   */
  readonly action: 'kill' | 'memory' | 'fail' | 'late';
  readonly lateMs: number;
  readonly outcome: AppendFault;
}
