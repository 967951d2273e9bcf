import type { IncomingMessage } from 'node:http';
import type { ClientIp } from '@weir/domain/net/client-ip';
import type { Keep } from '@weir/domain/registry/keep';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import type { AddressSealer } from '@weir/runtime/address-sealer';
import type { Config } from '@weir/runtime/config/config';
import type { PartitionStatus } from '@weir/runtime/consume/consume-status';
import type { Logger } from '@weir/runtime/logger';
import type { BackupControl } from './backups/backup-control.ts';
import type { ExportedTables } from './exports/export-deps.ts';
import type { ExportSlots } from './exports/export-slots.ts';
import type { Reply } from './http/admin-reply.ts';
import type { RunForSite, RunInSlot } from './http/call-slots.ts';
import type { StreamReply } from './http/send-stream.ts';
import type { ImportDesk } from './imports/import-desk.ts';
import type { ImportTerm } from './imports/import-term.ts';
import type { HiddenCursors } from './live/hidden-cursors.ts';
import type { Installation } from './pipeline/installation.ts';
import type { LagRate } from './pipeline/lag-rate.ts';
import type { RunExclusive } from './registry/mutex.ts';
import type { DiffRuns } from './replay/diff/diff-runs.ts';
import type { ReportQueue, TakeTurn } from './reports/report-queue.ts';
import type { SignIn } from './sign-in/sign-in.ts';
import type { SteadyTables } from './steady-tables.ts';

export interface ControlDeps {
  readonly registry: Registry;
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly shadow: ShadowTables;
  /**
   * The embedded ClickHouse can detach damaged parts of tables. After a loss of power, Weir also detaches parts to repair the tables. Detached
   * parts can contain rows of an erased person. Returns the time in Unix milliseconds at which Weir will have removed all detached parts; undefined
   * if there are none.
   */
  readonly detachedUntil: () => number | undefined;
  /** Undefined if Weir does not archive. */
  readonly archive: ObjectStore | undefined;
  /** The problem that stops the replay. Undefined if the replay continues, or if the replay runs in another process. */
  readonly replayProblem: () => Promise<string | undefined>;
  /**
   * Several processes can have the control role, and they elect the one that accepts imports. Resolves with the term of this process: the time in
   * which no other process accepts imports. Resolves with undefined if another process was elected. Waits if an election is running; `signal` ends
   * this wait.
   */
  readonly importTerm: (signal: AbortSignal) => Promise<ImportTerm | undefined>;
  readonly addressSealer: AddressSealer;
  readonly adminToken: string;
  /** The setting WEIR_PUBLIC_URL. */
  readonly publicUrl?: string | undefined;
  /** Aborts when this process begins to shut down. Responses that would otherwise not end, such as live events, must then end. */
  readonly closing: AbortSignal;
  /** Limits the attempts to sign in. */
  readonly rateLimiter: RateLimiter;
  /** The number of reports that run at once. Default: `RUNNING_MAX` (report-queue.ts). */
  readonly reportsAtOnce?: number | undefined;
  /** The folder with the built dashboard: index.html and assets/. */
  readonly dashboardDir: string;
  readonly clock: () => number;
  /** Returns cryptographically random bytes. */
  readonly randomBytes: (length: number) => Uint8Array;
  readonly logger: Logger;
  /** The status of the consumers in this process. For consumers in other processes, only the committed offsets are known. */
  readonly pipelineStatus: () => Promise<readonly ConsumerStatus[]>;
  /** The function with which the gateway finds the client IP. */
  readonly findClientIp: (request: IncomingMessage) => ClientIp;
  /** The settings that `findClientIp` uses. */
  readonly proxies: Pick<Config, 'trustedProxies' | 'clientIpHeader'>;
  readonly retention: TopicRetention;
  /** The settings KEEP_EVENTS, KEEP_PROFILES and KEEP_ROLLUPS, for sites that do not have their own values. */
  readonly keep: Keep;
  readonly locate: (address: string) => Promise<Located>;
  /** Returns the name of the bot that uses this user agent. Empty if it is not the user agent of a bot. The enricher uses the same function. */
  readonly judgeBot: (userAgent: string) => string;
  /** Disks and engines of this process. */
  readonly installation: Installation;
  /** Undefined if this process stores no data of its own that could be backed up. */
  readonly backups: BackupControl | undefined;
  /** Undefined if this process has no gateway role. */
  readonly singleNetworkSites: (() => readonly SingleNetworkSite[] | Promise<readonly SingleNetworkSite[]>) | undefined;
}

export interface AdminDeps extends Omit<ControlDeps, 'analytics'> {
  readonly signIn: SignIn;
  readonly tables: SteadyTables;
  readonly reportQueue: ReportQueue<Reply | StreamReply>;
  /** Limits how many SQL statements of users run at once, because the process holds the whole answer of each statement in memory. */
  readonly takeSqlTurn: TakeTurn;
  /** Runs the audits of reports one after the other. They do not use the report queue, because an audit can take hours. */
  readonly takeAuditTurn: TakeTurn;
  /** Runs the changes of the registry one after the other. */
  readonly runExclusive: RunExclusive;
  /** Waits for the inserts that are running now. An insert fills the tables one after the other, so it can be visible in only some of them. */
  readonly insertsEnd: () => Promise<void>;
  /** Runs the calls that redrive dead letters (docs/glossary.md) one after the other. */
  readonly runRedrive: RunExclusive;
  readonly diffRuns: DiffRuns;
  /** Resolves with undefined if another process accepts imports. */
  readonly importDesk: () => Promise<ImportDesk | undefined>;
  readonly exportSlots: ExportSlots;
  /**
   * The tables for exports. If a swap (docs/glossary.md) exchanges the tables during a query, `tables` repeats the query. An export ends with an
   * error instead, because it has already sent some of its rows and can have run for hours.
   */
  readonly exportedTables: ExportedTables;
  /** Limits how many calls for records of topics run or wait for a record at the same time. */
  readonly runTopicCall: RunInSlot;
  readonly hiddenCursors: HiddenCursors;
  /** Limits the listeners of live events. */
  readonly runLive: RunForSite;
  /** Limits how many readers use the log at the same time: calls for records of topics and listeners of live events. */
  readonly runTopicRead: RunInSlot;
  /** Creates an event ID (UUIDv7). */
  readonly newEventId: () => string;
  /**
   * Returns the object that measures the records per second of a consumer in another process, or of a replay. `topic`: the topic of the consumer, or
   * a name of the replay.
   */
  readonly lagRateOf: (topic: string) => LagRate;
}

export interface Located {
  /** The location. Undefined if the geo data cannot be read. A field is empty if the geo data does not have this field for the address. */
  readonly place: Readonly<Record<'country' | 'region' | 'city' | 'timezone', string>> | undefined;
  /** The name and version of the geo data. Empty if the geo data cannot be read. */
  readonly data: string;
  /** The problem with the geo files on disk. Empty if there is none. */
  readonly problem: string;
}

/** How long the log keeps the records of its topics. */
export type TopicRetention = Pick<Config, 'rawRetentionMs' | 'enrichedRetentionMs'>;

/** A site that gets most of its recent hits from one network. */
interface SingleNetworkSite {
  readonly siteId: string;
  readonly hits: number;
  readonly percent: number;
  readonly isPrivate: boolean;
}

export interface ConsumerStatus {
  readonly topic: string;
  /** The name of the consumer group. */
  readonly consumer: string;
  readonly partitions: readonly PartitionStatus[];
}
