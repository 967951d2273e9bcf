import { createServer } from 'node:net';

/** The range is above the ports that fetch and browsers refuse, and below the ephemeral ports of Linux and macOS. */
const FIRST_PORT = 11_000;
const LAST_PORT = 32_000;

/**
 * A free port on 127.0.0.1, chosen at random outside the ephemeral range. So a test can restart its server on the same port, and
 * meanwhile its clients do not reach the server of another test.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
