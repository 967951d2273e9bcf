import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of the first of these brokers. */
export async function startKafkaProxy(brokers: string) {
  let accepted = 0;
  const open = new Set<Socket>();
  const [host, port] = brokers.split(',')[0]!.split(':');
  const server = createServer((socket) => {
    accepted += 1;
    open.add(socket.once('close', () => open.delete(socket)));
    const behind = connect(Number(port), host);
    socket.on('error', () => undefined).pipe(behind);
    behind.on('error', () => undefined).pipe(socket);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    open: () => open.size,
    /** Refuses new connections from now on. Resolves when all connections have ended. */
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
