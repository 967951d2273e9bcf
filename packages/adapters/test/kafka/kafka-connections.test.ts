import { Socket } from 'node:net';
import { createLogger } from '@weir/runtime/logger';
import { createKafkaConnections } from '../../src/kafka/kafka-connections.ts';

test('close waits for connections that were replaced shortly before', async () => {
  const socket = new Socket().on('error', () => undefined);
  const connections = createKafkaConnections({
    async connect(keep) {
      keep(socket);
      return { disconnect: () => new Promise<void>(() => undefined) };
    },
    timeouts: { connectionTimeoutMs: 5_000, requestTimeoutMs: 5_000 },
    logger: createLogger('silent'),
  });
  await expect(connections.run(() => Promise.reject(new Error('it broke')))).rejects.toThrow('it broke');
  await connections.close();
  expect(socket.destroyed).toBe(true);
});
