import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { DependencyError } from '@weir/domain/errors';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { localProblem, startLocal } from '@weir/testkit/live-local';
import { Kafka, logLevel } from 'kafkajs';
import { HEARTBEAT_TIMEOUTS, joinKafkaGroup, type Session } from '../../src/kafka/consume/kafka-group-member.ts';
import { type KafkaTimeouts, PATIENT } from '../../src/kafka/kafka-client.ts';
import { createKafkaLink } from '../../src/kafka/kafka-link.ts';
import { createTopics } from './create-topics.ts';

const problem = localProblem('kafka');
const TOPIC = 'silent';

(problem === undefined ? describe : describe.skip)(
  `a proxy in front of a broker${problem === undefined ? '' : `: ${problem}`}`,
  () => {
    let proxy: Awaited<ReturnType<typeof startProxy>>;
    let broker: Awaited<ReturnType<typeof startLocal>>;

    beforeAll(async () => {
      const port = await freePort();
      proxy = await startProxy(port);
      broker = await startLocal('kafka', { port, 'advertised-port': proxy.port });
      const admin = new Kafka({ brokers: [proxy.address], logLevel: logLevel.NOTHING }).admin();
      await admin.connect();
      await createTopics(admin, [{ topic: TOPIC, numPartitions: 3 }]);
      await admin.disconnect();
    });
    afterAll(async () => {
      await broker.close();
      await proxy.close();
    });

    test('a member stays in its generation if its connections are silent and new connections work', async () => {
      const address = { brokers: [proxy.address], clientId: 'weir-test' };
      const open = (timeouts: KafkaTimeouts) =>
        createKafkaLink({ address, timeouts, topics: [TOPIC], logger: createLogger('silent') });
      const [link, heartbeatLink] = [open(PATIENT), open(HEARTBEAT_TIMEOUTS)];
      const sessions: Session[] = [];
      const member = joinKafkaGroup({
        link,
        heartbeatLink,
        topic: TOPIC,
        groupId: 'group',
        assigned: async (session) => void sessions.push(session),
        revoked: async () => undefined,
        onError: () => undefined,
      });
      await eventually('a session', () => sessions.length > 0 && member.joined());
      const [session] = sessions as [Session];
      proxy.silence();
      // Opening a new connection needs fewer than 12 answers. So more than 12 answers include answers to heartbeats.
      await eventually('answers over new connections', () => proxy.answers() > 12);
      // The broker refuses this commit if it has removed the member.
      const committed = await eventually('the commit', () =>
        member.commit(session, 0, { offset: 1, metadata: '' }).then(
          () => 'committed',
          // The first commit can fail, because its connection is also silent. The test then repeats the commit.
          ({ code, message }: DependencyError) => (code === 'event_log_unavailable' ? undefined : message),
        ),
      );
      await member.close();
      await Promise.all([link.close(), heartbeatLink.close()]);
      expect(committed).toBe('committed');
      expect(sessions).toEqual([session]);
    });
  },
);

/**
 * A TCP proxy. `silence` makes the present connections silent: they stay open, but the proxy no longer forwards data. After that, `answers` counts
 * the chunks of data that the broker sends over other connections.
 */
async function startProxy(targetPort: number) {
  const open = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  let answers = 0;
  const server = createServer((socket) => {
    const behind = connect(targetPort, '127.0.0.1');
    behind.on('data', () => {
      if (!silent.has(behind)) answers += 1;
    });
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    address: `127.0.0.1:${port}`,
    answers: () => answers,
    silence() {
      for (const socket of open) {
        silent.add(socket);
        socket.unpipe();
        // Reads and discards the data, so that the proxy notices when the other side closes the connection.
        socket.resume();
      }
      answers = 0;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
