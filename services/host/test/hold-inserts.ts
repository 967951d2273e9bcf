import { connect, createServer } from 'node:net';

/**
 * A TCP proxy in front of ClickHouse. Until `letThrough` is called, it discards each insert of records and leaves its connection open,
 * like a server that does not respond.
 */
export interface InsertHold {
  readonly port: number;
  /** The number of inserts that were discarded so far. */
  held(): number;
  letThrough(): void;
  close(): void;
}

export async function holdInserts(clickhousePort: number): Promise<InsertHold> {
  let held = 0;
  let isHolding = true;
  const server = createServer((socket) => {
    const behind = connect(clickhousePort, '127.0.0.1');
    socket.on('data', (chunk) => {
      if (isHolding && chunk.includes('insert_deduplication_token')) {
        held += 1;
        socket.pause();
      } else behind.write(chunk);
    });
    behind.pipe(socket);
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    held: () => held,
    letThrough() {
      isHolding = false;
    },
    close: () => void server.close(),
  };
}
