import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@weir/testkit/free-port';
import { installLocal } from '@weir/testkit/live-local';
import { interpolate, readCompose } from './compose.ts';
import { ROOT } from './read-files.ts';

const JARS = join(ROOT, '.cache/services/kafka-4.3.1');

/** Translates environment variables as the image apache/kafka does: `KAFKA_LOG_DIRS` becomes the property `log.dirs`. */
export function kafkaProperties(env: Readonly<Record<string, string>>): Record<string, string> {
  const settings = Object.entries(env).filter(([name]) => name.startsWith('KAFKA_') && name !== 'KAFKA_HEAP_OPTS');
  return Object.fromEntries(
    settings.map(([name, value]) => [
      name
        .slice('KAFKA_'.length)
        .toLowerCase()
        .replace(/___|__|_/g, (score) => ({ ___: '-', __: '_' })[score] ?? '.'),
      value,
    ]),
  );
}

/** Starts a broker with the settings and users of docker-compose.yml, as a process on loopback. */
export async function startKafkaOfCompose(passwords: Readonly<Record<string, string>>) {
  installLocal('kafka');
  const dir = mkdtempSync(join(tmpdir(), 'weir-acls-'));
  const [port, controllerPort] = [await freePort(), await freePort()];
  const written = readCompose().services.kafka?.environment ?? {};
  const env = Object.fromEntries(Object.entries(written).map(([name, value]) => [name, interpolate(value, passwords)]));
  const properties: Record<string, string> = {
    ...kafkaProperties(env),
    listeners: `CLIENT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `CLIENT://127.0.0.1:${port}`,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'log.dirs': join(dir, 'data'),
    // These three settings save time and memory. No test depends on their values.
    'offsets.topic.num.partitions': '4',
    'log.cleaner.dedupe.buffer.size': '4194304',
    'group.initial.rebalance.delay.ms': '0',
  };
  const file = join(dir, 'server.properties');
  writeFileSync(
    file,
    Object.entries(properties)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const java = ['-Xms256m', '-Xmx256m', '-XX:+UseSerialGC', '-cp', `${JARS}/*`];
  const formatted = spawnSync('java', [
    ...java,
    'kafka.tools.StorageTool',
    'format',
    '-t',
    env.CLUSTER_ID ?? '',
    '-c',
    file,
  ]);
  if (formatted.status !== 0) throw new Error(`format: ${formatted.stderr}`);
  const broker = spawn('java', [...java, 'kafka.Kafka', file], { cwd: dir, stdio: 'ignore' });
  const ended = new Promise((resolve) => broker.once('exit', resolve));
  return {
    brokers: `127.0.0.1:${port}`,
    async stop() {
      broker.kill('SIGKILL');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
