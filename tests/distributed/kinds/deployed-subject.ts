import { freePort } from '@weir/testkit/free-port';
import type { BehindProxies } from '../../faults/suite/clickhouse-behind-proxies.ts';
import { startClickhouseProxies } from '../../faults/suite/clickhouse-proxies.ts';
import type { Opening } from '../../faults/suite/connection-faults.ts';
import { SUITE_ENV } from '../../faults/suite/embedded-subject.ts';
import { type FaultyProxy, startFaultyProxy } from '../../faults/suite/faulty-proxy.ts';
import { type Deployment, startDeployment } from '../deployment.ts';
import { startServices } from '../services.ts';

/**
 * A distributed Weir. Its processes reach the services through proxies, and the load reaches the gateways through proxies. `client` uses no
 * proxy.
 */
export interface Deployed extends BehindProxies {
  readonly weir: Deployment;
  readonly kafkaProxy: FaultyProxy;
  readonly redisProxy: FaultyProxy;
  /** One for each gateway. */
  readonly clientProxies: readonly FaultyProxy[];
}

async function openDeployed(): Promise<Deployed> {
  const opened: { close(): Promise<void> }[] = [];
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one);
    return one;
  };
  /** Closes in reverse order of opening: a process is stopped before the proxy that it uses. */
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).toReversed()) await one.close();
  };
  try {
    const port = await freePort();
    const kafkaProxy = keep(await startFaultyProxy(port));
    // The broker tells its clients the port of the proxy. Otherwise the clients would use the proxy only for their first connection.
    const services = keep(await startServices({ port, advertised: kafkaProxy.port }));
    const redisProxy = keep(await startFaultyProxy(portOf(services.redis.address)));
    const clickhouse = keep(await startClickhouseProxies(services.clickhouse.address));
    const env = {
      ...SUITE_ENV,
      KAFKA_BROKERS: `127.0.0.1:${kafkaProxy.port}`,
      REDIS_URL: `redis://127.0.0.1:${redisProxy.port}`,
      CLICKHOUSE_URL: clickhouse.url,
    };
    const weir = keep(await startDeployment(services, env));
    const clientProxies: FaultyProxy[] = [];
    for (const { url } of weir.gateways) clientProxies.push(keep(await startFaultyProxy(portOf(url))));
    const { client, url } = weir;
    const urls = clientProxies.map((proxy) => `http://127.0.0.1:${proxy.port}`);
    return { ...{ weir, client, url, urls, clickhouse, kafkaProxy, redisProxy, clientProxies }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const portOf = (url: string): number => Number(new URL(url).port);

/** How these faults open Weir. They share one deployment and happen to it one after another. */
export const DEPLOYED: Opening<Deployed> = { open: openDeployed, shares: 'deployment' };
