import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@weir/testkit/free-port';
import { installLocal } from '@weir/testkit/live-local';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { makeOwnCertificate } from './own-certificate.ts';

const JAVA = ['-Xms256m', '-Xmx256m', '-XX:+UseSerialGC', '-cp', join(PROJECT_ROOT, '.cache/services/kafka-4.3.1/*')];
/** The duration of a SASL session. kafkajs authenticates again from 10 s before its end on, so here from the third second on. */
const SESSION_MS = 13_000;
export const USER = { username: 'weir', password: 'p-w:d' } as const;

export interface SecureKafka {
  readonly broker: string;
  /** The certificate in PEM format, which clients must trust. */
  readonly ca: string;
  stop(): Promise<void>;
}

/** Starts the local broker with an additional listener that requires TLS and a user (PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512). */
export async function startSecureKafka(): Promise<SecureKafka> {
  installLocal('kafka');
  const dir = mkdtempSync(join(tmpdir(), 'weir-kafka-tls-'));
  const { certFile, keyFile, ca } = makeOwnCertificate(dir);
  const keyStore = join(dir, 'server.pem');
  writeFileSync(keyStore, readFileSync(keyFile, 'utf8') + ca);
  const port = await freePort();
  const inner = await freePort();
  const controller = await freePort();
  const login = (module: string, options = '') => `org.apache.kafka.common.security.${module} required${options};`;
  const plain = login('plain.PlainLoginModule', ` user_${USER.username}="${USER.password}"`);
  const scram = login('scram.ScramLoginModule');
  const file = join(dir, 'server.properties');
  writeFileSync(
    file,
    `${readFileSync(join(PROJECT_ROOT, 'infra/local/kafka.properties'), 'utf8')}
listener.security.protocol.map=INNER:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL
listeners=SECURE://127.0.0.1:${port},INNER://127.0.0.1:${inner},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=SECURE://127.0.0.1:${port},INNER://127.0.0.1:${inner}
inter.broker.listener.name=INNER
controller.quorum.voters=1@127.0.0.1:${controller}
log.dirs=${join(dir, 'data')}
ssl.keystore.type=PEM
ssl.keystore.location=${keyStore}
ssl.truststore.type=PEM
ssl.truststore.location=${certFile}
connections.max.reauth.ms=${SESSION_MS}
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.secure.plain.sasl.jaas.config=${plain}
listener.name.secure.scram-sha-256.sasl.jaas.config=${scram}
listener.name.secure.scram-sha-512.sasl.jaas.config=${scram}
`,
  );
  const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${USER.username},password="${USER.password}"]`,
  ]);
  const format = ['kafka.tools.StorageTool', 'format', '-t', 'MkU3OEVBNTcwNTJENDM2Qk', '-c', file, ...users];
  const { status, stderr, stdout } = spawnSync('java', [...JAVA, ...format], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`format: ${stderr}${stdout}`);
  const child: ChildProcess = spawn('java', [...JAVA, 'kafka.Kafka', file], { cwd: dir, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    broker: `127.0.0.1:${port}`,
    ca,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
