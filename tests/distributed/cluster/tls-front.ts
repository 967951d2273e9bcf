import { connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { IssuedCertificate } from './test-authority.ts';

/** A proxy on loopback that accepts TLS connections and forwards their data without TLS. */
export interface TlsFront {
  readonly port: number;
  /** Uses another certificate for new connections. Existing connections continue. */
  present(certificate: IssuedCertificate): void;
  /**
   * The number of connections that clients opened after the certificate had expired. `refused`: the client closed the connection without sending
   * data. `used`: the client sent data.
   */
  expired(): { readonly refused: number; readonly used: number };
  close(): Promise<void>;
}

/** A certificate counts as expired only after this additional time, because the client and this process can read slightly different times. */
const SURELY_EXPIRED_MS = 1_000;

export async function startTlsFront(targetPort: number, certificate: IssuedCertificate): Promise<TlsFront> {
  const open = new Set<Socket>();
  let { validUntil } = certificate;
  let refused = 0;
  let used = 0;
  const isExpired = (): boolean => Date.now() > validUntil + SURELY_EXPIRED_MS;
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (socket) => {
    // A client in Node checks the certificate after the handshake. The server can therefore see a complete handshake, although the client refuses
    // the certificate. Such a client sends no data.
    if (isExpired()) {
      let sent = false;
      socket.once('data', () => {
        sent = true;
        used += 1;
      });
      socket.once('close', () => {
        if (!sent) refused += 1;
      });
    }
    const behind = connect(targetPort, '127.0.0.1');
    for (const one of [socket, behind]) {
      open.add(one);
      one.setNoDelay(true);
      one.on('close', () => open.delete(one));
    }
    const end = (): void => {
      socket.destroy();
      behind.destroy();
    };
    for (const one of [socket, behind]) one.on('error', end).on('close', end);
    socket.pipe(behind).pipe(socket);
  });
  server.on('tlsClientError', (_error, socket) => {
    if (isExpired()) refused += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    present(next) {
      server.setSecureContext({ cert: next.cert, key: next.key });
      ({ validUntil } = next);
    },
    expired: () => ({ refused, used }),
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
