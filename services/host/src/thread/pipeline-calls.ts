import type { ConsumerStatus, Located } from '@weir/control/control-deps';
import type { Config } from '@weir/runtime/config/config';
import type { ThreadMetrics } from '@weir/runtime/prometheus-metrics';
import type { ClickhouseConnection } from '../ports/open-analytics.ts';
import type { LogOwner } from '../ports/open-thread-ports.ts';
import type { PipelineState } from '../ports/split-state-store.ts';
import type { Role } from '../roles.ts';

/** What the pipeline thread gets when it is started. */
export interface PipelineInput {
  readonly config: Config;
  /** The roles that run in the thread. */
  readonly roles: readonly Role[];
  /** Whether the thread carries out replays. */
  readonly replays: boolean;
  readonly logId: string;
  readonly partitionCount: number;
  /** Undefined if no role of the thread writes to ClickHouse. */
  readonly clickhouse: ClickhouseConnection | undefined;
  /** The reason why nothing may be written to the disk when the thread starts. Undefined if there is enough free space. */
  readonly shortage: string | undefined;
}

/** What the pipeline thread calls in the main thread. */
export interface MainCalls extends Pick<LogOwner, Exclude<keyof LogOwner, 'logId' | 'partitionCount'>> {
  writeLine(line: string): void;
}

/** What the main thread calls in the pipeline thread. */
export interface PipelineCalls {
  /** Resolves when all consumers run. Rejects if one of them cannot start. */
  start(): Promise<void>;
  /** Partition `partition` of the topic has durable records up to `end` (exclusive). */
  advance(topic: string, partition: number, end: number): void;
  /** A row of a table has changed. */
  changeRow(table: string, key: string, value: string | undefined): void;
  setShortage(shortage: string | undefined): void;
  /** ClickHouse's tables are up to date, or `problem` says why they cannot be used. */
  tablesReady(problem: string | undefined): void;
  /** An empty call. Its answer shows that the thread processes its messages. */
  ping(): void;
  metrics(): Promise<ThreadMetrics>;
  status(): readonly ConsumerStatus[];
  /** Why the replay does not continue. Undefined if it continues, or if there is none. */
  replayProblem(): string | undefined;
  readiness(): Promise<{ readonly missing: readonly string[]; readonly notes: readonly string[] }>;
  /** Looks up the location of an address. */
  locate(address: string): Promise<Located>;
  state<Name extends keyof PipelineState>(name: Name, args: Parameters<PipelineState[Name]>): Promise<unknown>;
  /** Resolves when all consumers have stopped and the engines of the thread are closed. */
  close(): Promise<void>;
}
