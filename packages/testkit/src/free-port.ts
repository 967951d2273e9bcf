import { createServer } from 'node:net';

/** Above the last that fetch and browsers refuse, below what Linux and macOS give to clients and to whoever listens on port 0. */
const FIRST_PORT = 11_000;
const LAST_PORT = 32_000;

/**
 * A port on 127.0.0.1 that is free, and that nobody gets by chance: a test's server that is down for a moment finds it free
 * again, and its clients reach no other test's server in between.
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
