import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { startLocal } from '@weir/testkit/live-local';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { type Admin, Kafka, logLevel } from 'kafkajs';

const START_WITHIN_MS = 150_000;
const JAVA = ['-Xms128m', '-Xmx128m', '-XX:+UseSerialGC', '-cp', join(PROJECT_ROOT, '.cache/services/kafka-4.3.1/*')];

/** Broker 1, which is also the controller, and broker 2, which tests can stop. */
export interface TwoBrokers {
  /** The address of the first broker. */
  readonly address: string;
  readonly admin: Admin;
  /**
   * Stops the second broker. Resolves when its process has ended. Soon afterwards, the partitions whose only replica is on this broker have no
   * leader.
   */
  stopSecond(): Promise<void>;
  /** Sends SIGSTOP to the second broker. Resolves when all of its threads have stopped. On a busy machine, this takes some time. */
  pauseSecond(): Promise<void>;
  continueSecond(): void;
  close(): Promise<void>;
}

export async function startTwoBrokers(): Promise<TwoBrokers> {
  const first = await startLocal('kafka');
  const read = (file: string) => readFileSync(join(first.dir, 'kafka', file), 'utf8');
  const file = join(first.dir, 'second.properties');
  const port = await freePort();
  writeFileSync(
    file,
    `${readFileSync(join(PROJECT_ROOT, 'infra/local/kafka.properties'), 'utf8')}
process.roles=broker
node.id=2
listeners=PLAINTEXT://127.0.0.1:${port}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.quorum.voters=1@127.0.0.1:${read('controller-port').trim()}
log.dirs=${join(first.dir, 'second')}
`,
  );
  const clusterId = /^cluster\.id=(\S+)/m.exec(read('data/meta.properties'))?.[1] ?? '';
  const format = ['kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', file];
  const { status, stderr, stdout } = spawnSync('java', [...JAVA, ...format], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`format: ${stderr}${stdout}`);
  const second: ChildProcess = spawn('java', [...JAVA, 'kafka.Kafka', file], { cwd: first.dir, stdio: 'ignore' });
  const ended = new Promise((resolve) => second.once('exit', resolve));
  const adminOf = (broker: string) => new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
  const admin = adminOf(first.address);
  await admin.connect();
  await eventually('two brokers', async () => (await admin.describeCluster()).brokers.length === 2, START_WITHIN_MS);
  // A broker is a member of the cluster before it listens. Clients send requests for the controller to any member, so the second broker must listen.
  await eventually('the second broker answers', async () => {
    const own = adminOf(`127.0.0.1:${port}`);
    await own.connect();
    await own.disconnect();
    return true;
  });
  return {
    address: first.address,
    admin,
    async stopSecond() {
      second.kill('SIGTERM');
      await ended;
    },
    async pauseSecond() {
      second.kill('SIGSTOP');
      const tasks = `/proc/${second.pid}/task`;
      // Only Linux has this folder.
      if (!existsSync(tasks)) return;
      const isStopped = (task: string): boolean => / T /.test(readFileSync(join(tasks, task, 'stat'), 'utf8'));
      await eventually('all threads of the broker have stopped', () => readdirSync(tasks).every(isStopped));
    },
    continueSecond: () => void second.kill('SIGCONT'),
    async close() {
      second.kill('SIGKILL');
      await ended;
      await admin.disconnect();
      await first.close();
    },
  };
}
