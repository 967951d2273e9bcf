import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** The range is above the ports that fetch and browsers refuse, and below the ephemeral ports of Linux and macOS. */
const FIRST_PORT = 11_000;
const LAST_PORT = 32_000;

/**
 * A free TCP port on 127.0.0.1, chosen at random outside the ephemeral range. It stays reserved until the test process ends: `freePort` in this
 * process and in others does not return it again. So a test can start its server later, and restart it on the same port, and meanwhile no
 * other test takes the port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
}

/** Reserves a TCP port: opens the UDP port with the same number, which no server of a test needs. Resolves with false if it is already open. */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const reservation = createSocket('udp4').unref();
    reservation.once('error', (error: NodeJS.ErrnoException) => {
      reservation.close();
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    reservation.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
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
