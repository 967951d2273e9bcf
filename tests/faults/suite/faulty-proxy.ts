import { connect, createServer, type Socket } from 'node:net';
import { portsOfProcess } from './client-ports.ts';

/**
 * What a proxy does with its connections. `slow`: each piece of data is delayed. `silent`: nothing is forwarded in either direction, but
 * connections stay open, and the data is forwarded when the mode ends. `half-open`: like `silent`, but the data is discarded, and the connections
 * are reset when the mode ends. `reset`: a connection is reset when data arrives. `away`: new and existing connections are reset.
 */
export type ProxyMode = 'pass' | 'slow' | 'silent' | 'half-open' | 'reset' | 'away';

/** A TCP proxy on loopback that can disturb the connections between processes. */
export interface FaultyProxy {
  readonly port: number;
  /**
   * Sets the mode, also for existing connections. With `pid`, the mode applies only to the connections of this process, and the proxy forwards
   * all others.
   */
  set(mode: ProxyMode, pid?: number): void;
  close(): Promise<void>;
}

/** A connection from a client to the proxy, and the connection from the proxy to the target. */
interface Pair {
  readonly sockets: readonly [client: Socket, behind: Socket];
  readonly clientPort: number;
  /** Whether the mode applies to this connection. */
  isChosen: boolean;
}

const SLOW_MS = 300;

export async function startFaultyProxy(targetPort: number): Promise<FaultyProxy> {
  let mode: ProxyMode = 'pass';
  let chosenPid: number | undefined;
  const open = new Set<Pair>();
  /** Functions that forward data which waits because the mode was `silent`. They are called when the mode changes. */
  let waiting: (() => void)[] = [];

  /** Forwards one direction. A paused socket keeps its data in the buffers of the kernel. */
  function forward(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (data) => {
      switch (pair.isChosen ? mode : 'pass') {
        case 'half-open':
          return;
        case 'reset':
          reset(pair);
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
    const clientPort = socket.remotePort ?? 0;
    const isChosen = chosenPid === undefined || portsOfProcess(chosenPid).has(clientPort);
    if (mode === 'away' && isChosen) {
      socket.resetAndDestroy();
      return;
    }
    const behind = connect(targetPort, '127.0.0.1');
    const pair: Pair = { sockets: [socket, behind], clientPort, isChosen };
    open.add(pair);
    for (const one of pair.sockets) {
      one.setNoDelay(true);
      one.on('close', () => open.delete(pair));
    }
    forward(pair, socket, behind);
    forward(pair, behind, socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    set(next, pid) {
      // A half-open connection has lost bytes of its stream. It cannot continue, so it is reset.
      const broken = mode === 'half-open' ? [...open].filter(({ isChosen }) => isChosen) : [];
      mode = next;
      chosenPid = pid;
      const ports = pid === undefined ? undefined : portsOfProcess(pid);
      for (const pair of open) pair.isChosen = ports?.has(pair.clientPort) ?? true;
      const released = waiting;
      waiting = [];
      for (const release of released) release();
      const ended = next === 'away' ? [...open].filter(({ isChosen }) => isChosen) : [];
      for (const pair of [...broken, ...ended]) reset(pair);
    },
    close() {
      for (const { sockets } of open) for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function reset({ sockets }: Pair): void {
  for (const socket of sockets) socket.resetAndDestroy();
}
