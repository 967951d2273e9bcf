import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@weir/testkit/free-port';
import { mountSmallDisk, type SmallDisk, whyNoMount } from '../../faults/small-disk.ts';
import type { Opening } from '../../faults/suite/connection-faults.ts';
import { SUITE_ENV } from '../../faults/suite/embedded-subject.ts';
import type { Subject } from '../../faults/suite/fault.ts';
import { type FaultyProxy, startFaultyProxy } from '../../faults/suite/faulty-proxy.ts';
import { type Deployment, startDeployment } from '../deployment.ts';
import { type Engines, startSome } from '../services.ts';
import { type BrokerCluster, startBrokerCluster } from './broker-cluster.ts';
import { createTestAuthority, type TestAuthority } from './test-authority.ts';
import { startTlsFront, type TlsFront } from './tls-front.ts';

/** How Weir's processes reach one server: through `proxy`, which can disturb connections, and then through `front`, which accepts TLS. */
interface Way {
  readonly proxy: FaultyProxy;
  readonly front: TlsFront;
}

/** A deployment of Weir on a cluster of three brokers. Its processes connect to all engines with TLS. */
export interface Clustered extends Subject {
  readonly weir: Deployment<Engines>;
  readonly cluster: BrokerCluster;
  /** One disk for each broker. Empty if this machine cannot mount file systems. */
  readonly disks: readonly SmallDisk[];
  readonly authority: TestAuthority;
  /** The connection to each server: one for each broker, and one each for Redis and ClickHouse. */
  readonly ways: Readonly<Record<'kafka' | 'redis' | 'clickhouse', readonly Way[]>>;
}

const BROKERS = 3;
const DISK_MB = 2_048;
/** How long certificates are valid, except during a fault of certificates. */
export const VALID_MS = 24 * 3600_000;

async function openClustered(): Promise<Clustered> {
  const opened: (() => unknown)[] = [];
  /** Closes in reverse order of opening: a process is stopped before the proxy that it uses. */
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).toReversed()) await end();
  };
  try {
    const dir = mkdtempSync(join(tmpdir(), 'weir-cluster-'));
    opened.push(() => rmSync(dir, { recursive: true }));
    const authority = createTestAuthority(dir);
    const way = async (port: number): Promise<Way> => {
      const front = await startTlsFront(port, authority.issue(VALID_MS));
      opened.push(() => front.close());
      const proxy = await startFaultyProxy(front.port);
      opened.push(() => proxy.close());
      return { front, proxy };
    };

    const numbers = Array.from({ length: BROKERS }, (_, index) => index);
    const ports = await Promise.all(numbers.map(() => freePort()));
    const kafka = await Promise.all(ports.map(way));
    const disks = whyNoMount() === undefined ? numbers.map(() => mountSmallDisk('ext4', DISK_MB)) : [];
    for (const disk of disks) opened.push(() => disk.unmount());
    const folders = numbers.map((index) => disks[index]?.folder ?? join(dir, `broker-${index}`));
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    const advertised = kafka.map(({ proxy }) => proxy.port);
    const cluster = await startBrokerCluster({ folders, ports, advertised });
    opened.push(() => cluster.close());

    const others = await startSome(['redis', 'clickhouse']);
    opened.push(() => others.close());
    const redis = await way(portOf(others.redis.address));
    const clickhouse = await way(portOf(others.clickhouse.address));
    const { username, password } = new URL(others.clickhouse.address);
    const env = {
      ...SUITE_ENV,
      KAFKA_BROKERS: advertised.map((port) => `127.0.0.1:${port}`).join(','),
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA_FILE: authority.caFile,
      REDIS_URL: `rediss://127.0.0.1:${redis.proxy.port}`,
      REDIS_TLS_CA_FILE: authority.caFile,
      CLICKHOUSE_URL: `https://${username}:${password}@127.0.0.1:${clickhouse.proxy.port}`,
      NODE_EXTRA_CA_CERTS: authority.caFile,
    };
    // `weir.close` stops only Weir's processes. The `close` above then stops brokers and disks in the right order.
    const weir = await startDeployment({ env: {}, close: async () => undefined }, env);
    opened.push(() => weir.close());
    const { client, url, urls } = weir;
    const ways = { kafka, redis: [redis], clickhouse: [clickhouse] };
    return { weir, client, url, urls, cluster, disks, authority, ways, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const portOf = (url: string): number => Number(new URL(url).port);

/** How the faults of a cluster open Weir. They share one deployment and happen to it one after another. */
export const CLUSTERED: Opening<Clustered> = { open: openClustered, shares: 'cluster' };
