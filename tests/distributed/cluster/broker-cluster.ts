import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { installLocal } from '@weir/testkit/live-local';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { type Admin, Kafka, logLevel } from 'kafkajs';

const START_WITHIN_MS = 150_000;
const JAVA = ['-Xms256m', '-Xmx256m', '-XX:+UseSerialGC', '-cp', join(PROJECT_ROOT, '.cache/services/kafka-4.3.1/*')];
const FIXED_PROPERTIES = join(PROJECT_ROOT, 'infra/local/kafka.properties');
const CLUSTER_ID = 'MkU3OEVBNTcwNTJENDM2Qk';
const NEW_LEADERS_PROPERTIES = `
# A new leader soon after a broker was killed, and soon after the order of the replicas was changed.
broker.session.timeout.ms=6000
auto.leader.rebalance.enable=true
leader.imbalance.check.interval.seconds=1
leader.imbalance.per.broker.percentage=0
`;

/** One of three Kafka brokers. Each broker is also a controller. */
export interface ClusterBroker {
  readonly id: number;
  /** The port on which the broker accepts clients. The broker tells clients another port (`advertised`), which must forward to this one. */
  readonly port: number;
  isRunning(): boolean;
  /** Resolves when the process has ended. Before that, the killed broker could still accept records. */
  kill9(): Promise<void>;
  /** Starts the broker with its stored data. Resolves when it is a member of the cluster. This needs a majority of running brokers. */
  start(): Promise<void>;
}

export interface BrokerCluster {
  readonly brokers: readonly ClusterBroker[];
  /** Calls `work` with an admin client that connects to the brokers without proxies. */
  admin<T>(work: (admin: Admin) => Promise<T>): Promise<T>;
  /** Kills the brokers. Their data stays on the disk. */
  close(): Promise<void>;
}

interface Ports {
  readonly client: number;
  readonly inner: number;
  readonly controller: number;
}

export interface BrokerClusterOptions {
  /** One folder for each broker. It can be on a separate disk. */
  readonly folders: readonly string[];
  /** For each broker, the port on which it accepts clients. */
  readonly ports: readonly number[];
  /** For each broker, the port that it tells its clients, such as that of a proxy. */
  readonly advertised: readonly number[];
}

/** Starts the cluster. With CI=true, installs Kafka if it is missing. */
export async function startBrokerCluster(options: BrokerClusterOptions): Promise<BrokerCluster> {
  installLocal('kafka');
  const all: Ports[] = [];
  for (const client of options.ports) {
    all.push({ client, inner: await freePort(), controller: await freePort() });
  }
  const addresses = all.map(({ inner }) => `127.0.0.1:${inner}`);
  const voters = all.map(({ controller }, index) => `${index + 1}@127.0.0.1:${controller}`).join(',');
  const kafka = new Kafka({ brokers: addresses, logLevel: logLevel.NOTHING });
  const admin = async <T>(work: (connected: Admin) => Promise<T>): Promise<T> => {
    const connected = kafka.admin();
    await connected.connect();
    try {
      return await work(connected);
    } finally {
      await connected.disconnect();
    }
  };
  const brokers = await Promise.all(
    all.map((ports, index) => {
      const properties = brokerProperties(index + 1, ports, options.advertised[index] ?? ports.client, voters);
      return prepareBroker(index + 1, options.folders[index] ?? '', properties, ports, admin);
    }),
  );
  const close = async (): Promise<void> => {
    await Promise.all(brokers.map((broker) => broker.kill9()));
  };
  try {
    await Promise.all(brokers.map((broker) => broker.start()));
  } catch (error) {
    await close();
    throw error;
  }
  return { brokers, admin, close };
}

function brokerProperties(
  id: number,
  { client, inner, controller }: Ports,
  advertised: number,
  voters: string,
): string {
  return `${readFileSync(FIXED_PROPERTIES, 'utf8')}
node.id=${id}
listener.security.protocol.map=CLIENT:PLAINTEXT,INNER:PLAINTEXT,CONTROLLER:PLAINTEXT
listeners=CLIENT://127.0.0.1:${client},INNER://127.0.0.1:${inner},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=CLIENT://127.0.0.1:${advertised},INNER://127.0.0.1:${inner}
inter.broker.listener.name=INNER
controller.quorum.voters=${voters}
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
transaction.state.log.replication.factor=3
share.coordinator.state.topic.replication.factor=3
${NEW_LEADERS_PROPERTIES}`;
}

/** Writes the configuration of a broker and formats its folder. Does not start the broker. */
async function prepareBroker(
  id: number,
  folder: string,
  properties: string,
  { client, inner }: Ports,
  admin: BrokerCluster['admin'],
): Promise<ClusterBroker> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'server.properties');
  writeFileSync(file, `${properties}log.dirs=${join(folder, 'data')}\n`);
  const format = ['kafka.tools.StorageTool', 'format', `--cluster-id=${CLUSTER_ID}`, '-c', file];
  if (!existsSync(join(folder, 'data/meta.properties'))) await promisify(execFile)('java', [...JAVA, ...format]);

  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const isRunning = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;
  const isMember = (): Promise<boolean> =>
    admin(async (connected) => (await connected.describeCluster()).brokers.some(({ port }) => port === inner));

  return {
    id,
    port: client,
    isRunning,
    async kill9() {
      child?.kill('SIGKILL');
      await ended;
    },
    async start() {
      const log = openSync(join(folder, 'log'), 'a');
      // The log file is in the folder with the data. If the disk of the broker is full, its output is therefore lost.
      const started = spawn('java', [...JAVA, 'kafka.Kafka', file], { cwd: folder, stdio: ['ignore', log, log] });
      closeSync(log);
      child = started;
      ended = new Promise((resolve) => started.once('exit', resolve));
      await eventually(
        `broker ${id} to be a member of the cluster (${join(folder, 'log')})`,
        () => {
          if (!isRunning())
            throw new Error(`broker ${id} ended: ${readFileSync(join(folder, 'log'), 'utf8').slice(-2_000)}`);
          return isMember();
        },
        START_WITHIN_MS,
      );
    },
  };
}
