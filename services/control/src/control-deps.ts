import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { PartitionStatus } from '@weir/runtime/consume-status';
import type { Logger } from '@weir/runtime/logger';

export interface ControlDeps {
  readonly registry: Registry;
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly adminToken: string;
  readonly clock: () => number;
  /** Cryptographically random bytes. */
  readonly randomBytes: (length: number) => Uint8Array;
  readonly logger: Logger;
  /** The consumers of this process: rates, failures, alarms. Those of other processes show in positions alone. */
  readonly pipelineStatus: () => readonly ConsumerStatus[];
}

export interface ConsumerStatus {
  readonly topic: string;
  /** The consumer group. */
  readonly consumer: string;
  readonly partitions: readonly PartitionStatus[];
}
