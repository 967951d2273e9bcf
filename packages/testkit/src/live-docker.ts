import { spawnSync } from 'node:child_process';
import { GenericContainer, Wait } from 'testcontainers';
import { freePort } from './free-port.ts';
import type { LiveName, LiveService } from './live-local.ts';

export function dockerAnswers(): boolean {
  return spawnSync('docker', ['info'], { timeout: 5000, stdio: 'ignore' }).status === 0;
}

export async function startContainer(name: Exclude<LiveName, 's3'>): Promise<LiveService> {
  const container = await (name === 'kafka' ? kafka(await freePort()) : redis()).start();
  const port = container.getMappedPort(name === 'kafka' ? 9092 : 6379);
  return {
    address: name === 'kafka' ? `127.0.0.1:${port}` : `redis://127.0.0.1:${port}`,
    close: async () => void (await container.stop()),
  };
}

export interface ClickhouseServer {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  close(): Promise<void>;
}

/** A ClickHouse server of the version in docker-compose.yml, with a user that has all rights. */
export async function startClickhouseContainer(): Promise<ClickhouseServer> {
  const [username, password] = ['weir', 'of-a-test-alone'];
  const container = await new GenericContainer('clickhouse/clickhouse-server:25.8')
    .withEnvironment({
      CLICKHOUSE_USER: username,
      CLICKHOUSE_PASSWORD: password,
      CLICKHOUSE_DEFAULT_ACCESS_MANAGEMENT: '1',
    })
    .withUlimits({ nofile: { soft: 262_144, hard: 262_144 } })
    .withExposedPorts(8123)
    .withWaitStrategy(Wait.forHttp('/ping', 8123))
    .start();
  return {
    url: `http://127.0.0.1:${container.getMappedPort(8123)}`,
    username,
    password,
    close: async () => void (await container.stop()),
  };
}

function redis(): GenericContainer {
  return new GenericContainer('redis:8')
    .withCommand(['redis-server', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction'])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'));
}

/** A broker sends its own address to its clients, so the port on the host is chosen before the start. */
function kafka(port: number): GenericContainer {
  return new GenericContainer('apache/kafka:4.3.1')
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093',
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    })
    .withExposedPorts({ container: 9092, host: port })
    .withWaitStrategy(Wait.forLogMessage('Kafka Server started'));
}
