import { connect, createServer, type Socket } from 'node:net';
import { portsOfProcess } from './client-ports.ts';

/**
 * What a proxy does with the connections through it. `slow`: each piece of data is delayed. `silent`: nothing is forwarded in any direction, and
 * connections stay open. `half-open`: as `silent`, but what is sent is lost, and the connections are reset when the mode ends. `reset`: each
 * connection is reset when data comes. `away`: new and existing connections are reset.
 */
export type ProxyMode = 'pass' | 'slow' | 'silent' | 'half-open' | 'reset' | 'away';

/** A TCP proxy on loopback that can disturb the connections between processes. */
export interface FaultyProxy {
  readonly port: number;
  /** Applies to existing connections too. With `pid`, it applies only to the connections of this process, and all others are forwarded. */
  set(mode: ProxyMode, pid?: number): void;
  close(): Promise<void>;
}

/** A connection to the proxy, and the connection behind it. */
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
  /** Functions that forward data which waits because the mode is `silent`. They are called when the mode changes. */
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
      // The bytes that a half-open connection has lost are missing in its stream, so the connection cannot continue.
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
