import { connect, createServer, type Socket } from 'node:net';

/**
 * What a proxy does with the connections through it. `slow`: each piece of data is delayed. `silent`: nothing is forwarded in any direction, and
 * connections stay open. `half-open`: as `silent`, but what is sent is lost, and the connections are reset when the mode ends. `reset`: each
 * connection is reset when data comes. `away`: new and existing connections are reset.
 */
export type ProxyMode = 'pass' | 'slow' | 'silent' | 'half-open' | 'reset' | 'away';

/** A TCP proxy on loopback that can disturb the connections between two processes. */
export interface FaultyProxy {
  readonly port: number;
  /** Applies to existing connections too. */
  set(mode: ProxyMode): void;
  close(): Promise<void>;
}

const SLOW_MS = 300;

export async function startFaultyProxy(targetPort: number): Promise<FaultyProxy> {
  let mode: ProxyMode = 'pass';
  const open = new Set<Socket>();
  /** Functions that forward data which waits because the mode is `silent`. They are called when the mode changes. */
  let waiting: (() => void)[] = [];

  /** Forwards one direction. A paused socket keeps its data in the buffers of the kernel. */
  function forward(from: Socket, to: Socket): void {
    from.on('data', (data) => {
      switch (mode) {
        case 'half-open':
          return;
        case 'reset':
          from.resetAndDestroy();
          to.resetAndDestroy();
          return;
        case 'silent':
          from.pause();
          waiting.push(() => {
            to.write(data);
            from.resume();
          });
          return;
        case 'slow':
          from.pause();
          setTimeout(() => {
            to.write(data);
            from.resume();
          }, SLOW_MS);
          return;
        default:
          to.write(data);
      }
    });
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.on('end', () => to.end());
  }

  const server = createServer((socket) => {
    if (mode === 'away') {
      socket.resetAndDestroy();
      return;
    }
    const behind = connect(targetPort, '127.0.0.1');
    for (const one of [socket, behind]) {
      open.add(one);
      one.setNoDelay(true);
      one.on('close', () => open.delete(one));
    }
    forward(socket, behind);
    forward(behind, socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    set(next) {
      // The bytes that a half-open connection has lost are missing in its stream, so the connection cannot continue.
      const ends = mode === 'half-open' || next === 'away';
      mode = next;
      const released = waiting;
      waiting = [];
      for (const release of released) release();
      if (ends) for (const socket of open) socket.resetAndDestroy();
    },
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
