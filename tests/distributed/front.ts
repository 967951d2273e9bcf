import { connect, createServer, type Socket } from 'node:net';

export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

/** The paths that the control role serves. The gateway serves all other paths. */
const CONTROL = /^[A-Z]+ \/(api\/admin|dashboard)/;
/** This many bytes contain the method and the beginning of the path, which are enough to select the target. */
const HEAD_BYTES = 24;

/**
 * Serves a gateway and control under one URL, like a load balancer. The first request of each connection selects the target. All bytes of the
 * connection are forwarded to it.
 */
export async function startFront(control: string, gateway: string): Promise<Front> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    let head = Buffer.alloc(0);
    const choose = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      if (head.length < HEAD_BYTES && !head.includes('\n')) return;
      socket.off('data', choose);
      socket.pause();
      const target = new URL(CONTROL.test(head.toString('latin1')) ? control : gateway);
      const behind = connect(Number(target.port), '127.0.0.1', () => {
        behind.write(head);
        socket.pipe(behind).pipe(socket);
      });
      behind.on('error', () => socket.destroy());
      behind.on('close', () => socket.destroy());
      socket.on('close', () => behind.destroy());
    };
    socket.on('data', choose);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
