import { clickhouseBehindProxies } from '../../faults/suite/clickhouse-behind-proxies.ts';
import { connectionFaults } from '../../faults/suite/connection-faults.ts';
import type { Fault } from '../../faults/suite/fault.ts';
import { distributed, type Runnable } from '../../faults/suite/runnable.ts';
import type { Clustered } from '../cluster/clustered-subject.ts';
import { BROKER_DISK_FAULTS } from './broker-disk-faults.ts';
import { BROKER_FAULTS } from './broker-faults.ts';
import { CERTIFICATE_FAULTS } from './certificate-faults.ts';
import { CUT_OFF_FAULTS } from './cut-off-faults.ts';
import { DEPLOYED, type Deployed } from './deployed-subject.ts';
import { INSERT_FAULTS } from './insert-faults.ts';
import { REDIS_FAULTS } from './redis-faults.ts';
import { ROLE_FAULTS } from './role-faults.ts';
import { serviceFaults } from './service-faults.ts';
import { TOPIC_FAULTS } from './topic-faults.ts';

const KAFKA_FAULTS: readonly Fault<Deployed>[] = [
  ...serviceFaults('kafka', 'the broker'),
  ...connectionFaults({ name: 'kafka', from: 'Weir', to: 'Kafka' }, DEPLOYED, ({ kafkaProxy }) => [kafkaProxy]),
];
const CLICKHOUSE_FAULTS: readonly Fault<Deployed>[] = [
  ...serviceFaults('clickhouse', 'ClickHouse'),
  ...INSERT_FAULTS,
  ...clickhouseBehindProxies(DEPLOYED),
];
const CLIENT_FAULTS = connectionFaults(
  { name: 'client', from: 'clients', to: 'the gateways' },
  DEPLOYED,
  ({ clientProxies }) => clientProxies,
);

/**
 * These faults share a deployment on three brokers, whose start takes longer than a fault. They are one list, so that a test run uses only one of
 * them.
 */
const CLUSTER_FAULTS: readonly Fault<Clustered>[] = [...BROKER_FAULTS, ...BROKER_DISK_FAULTS, ...CERTIFICATE_FAULTS];

/** The faults of a distributed Weir. Each list has the faults of one part of the deployment. */
export const DISTRIBUTED_KINDS: readonly (readonly Runnable[])[] = [
  ...[ROLE_FAULTS, KAFKA_FAULTS, REDIS_FAULTS, CLICKHOUSE_FAULTS, CLIENT_FAULTS].map((faults) =>
    faults.map(distributed),
  ),
  [...CUT_OFF_FAULTS, ...TOPIC_FAULTS].map(distributed),
  CLUSTER_FAULTS.map(distributed),
];

/** The faults of all lists. */
export const DISTRIBUTED_FAULTS: readonly Runnable[] = DISTRIBUTED_KINDS.flat();
