import type { IncomingMessage } from 'node:http';
import type { FoundClient } from '@weir/domain/found-client';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { Config } from '@weir/runtime/config';
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
  /** How the gateway finds a request's client. */
  readonly findClient: (request: IncomingMessage) => FoundClient;
  /** By which settings it does. */
  readonly proxies: Pick<Config, 'trustedProxies' | 'clientIpHeader'>;
  readonly locate: (address: string) => Promise<Located>;
  /** Undefined: this process takes no hits. */
  readonly crowdedSites: (() => readonly CrowdedSite[]) | undefined;
}

export interface Located {
  /** Undefined where the geo data can't be read. Empty text: not known. */
  readonly place: Readonly<Record<'country' | 'region' | 'city' | 'timezone', string>> | undefined;
  /** Names the data that answers. */
  readonly data: string;
  /** What is wrong with the files on disk; empty: nothing. */
  readonly problem: string;
}

/** A site most of whose recent hits come from one network. */
interface CrowdedSite {
  readonly siteId: string;
  readonly hits: number;
  readonly percent: number;
  readonly isPrivate: boolean;
}

export interface ConsumerStatus {
  readonly topic: string;
  /** The consumer group. */
  readonly consumer: string;
  readonly partitions: readonly PartitionStatus[];
}
