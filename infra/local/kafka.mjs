import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { livePid, portOf, startDaemon, stopDaemon, until } from './daemon.mjs';
import { aptInstall, hasCommand, run } from './installed.mjs';
import { KAFKA_JARS } from './layout.mjs';

const MARK = 'kafka.Kafka';

/** Apache Kafka 4.3.1 from Maven Central: one broker, which is also the controller. */
export const kafka = {
  name: 'kafka',
  variable: 'KAFKA_BROKERS',

  missing() {
    const missing = [];
    if (!hasCommand('java')) missing.push('Java 17: apt-get install openjdk-17-jre-headless');
    if (!hasJars()) {
      if (!hasCommand('mvn')) missing.push('Maven: apt-get install maven');
      missing.push(`Kafka's jars: ${['mvn', ...mavenArgs()].join(' ')}`);
    }
    return missing;
  },

  install() {
    if (!hasCommand('java')) aptInstall(['openjdk-17-jre-headless']);
    if (hasJars()) return;
    if (!hasCommand('mvn')) aptInstall(['maven']);
    run('mvn', mavenArgs());
  },

  async up(dir) {
    const port = await portOf(dir);
    if (livePid(dir, MARK) === undefined) {
      const properties = join(dir, 'server.properties');
      const ports = {
        port,
        controllerPort: await portOf(dir, 'controller-port'),
        advertisedPort: advertisedPort(dir, port),
      };
      writeFileSync(properties, brokerProperties(ports, join(dir, 'data')));
      if (!existsSync(join(dir, 'data/meta.properties'))) format(properties, dir);
      startDaemon(dir, 'java', ['-Xms256m', '-Xmx256m', '-XX:+UseSerialGC', ...classpath(), MARK, properties]);
    }
    if (!(await until(() => answers(port), 150_000))) throw new Error(`Kafka did not start: ${join(dir, 'log')}`);
    return address(port);
  },

  down: (dir) => stopDaemon(dir, MARK),

  async status(dir) {
    return livePid(dir, MARK) === undefined ? undefined : address(await portOf(dir));
  },
};

const address = (port) => `127.0.0.1:${port}`;
const classpath = () => ['-cp', `${KAFKA_JARS}/*`];
const hasJars = () => existsSync(KAFKA_JARS) && readdirSync(KAFKA_JARS).some((jar) => /^kafka_.*\.jar$/.test(jar));

function mavenArgs() {
  const pom = join(import.meta.dirname, 'kafka-pom.xml');
  return ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${KAFKA_JARS}`];
}

function format(properties, dir) {
  mkdirSync(dir, { recursive: true });
  const id = randomBytes(16).toString('base64url');
  // One cluster ID in 64 begins with a dash. As a separate argument, without `--cluster-id=`, it would look like an option.
  const tool = ['kafka.tools.StorageTool', 'format', `--cluster-id=${id}`, '-c', properties];
  const { status, stderr } = spawnSync('java', [...classpath(), ...tool], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Kafka's storage could not be formatted: ${stderr}`);
}

/**
 * The port that the broker sends to its clients. A test that runs a proxy in front of the broker writes the port of the proxy to the file
 * `<dir>/advertised-port`.
 */
function advertisedPort(dir, port) {
  const file = join(dir, 'advertised-port');
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : port;
}

function brokerProperties({ port, controllerPort, advertisedPort }, dataDir) {
  const fixed = readFileSync(join(import.meta.dirname, 'kafka.properties'), 'utf8');
  return `${fixed}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${advertisedPort}
controller.quorum.voters=1@127.0.0.1:${controllerPort}
log.dirs=${dataDir}
`;
}

async function answers(port) {
  const admin = new kafkajs.Kafka({
    brokers: [address(port)],
    connectionTimeout: 1000,
    requestTimeout: 2000,
    retry: { retries: 0 },
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.length > 0;
  } catch {
    return false;
  } finally {
    await admin.disconnect();
  }
}
