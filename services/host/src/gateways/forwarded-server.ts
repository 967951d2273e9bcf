import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gateway } from '@weir/gateway/app';
import { ConfigError } from '@weir/runtime/config/config';
import { startHttpServer } from '@weir/runtime/http/http-server';
import type { Logger } from '@weir/runtime/logger';

/** The header in which a gateway process names the address of the client's connection. */
export const PEER_HEADER = 'x-weir-peer';
/** More than a client may send (16 KiB), because the gateway process adds headers. */
const HEADER_BYTES_MAX = 32 * 1024;

export interface ForwardedServer {
  readonly path: string;
  close(graceMs: number): Promise<void>;
}

/**
 * Runs in the main process, and answers the requests that gateway processes forward. It listens on a Unix socket in a new folder that only this
 * user can open. Otherwise other users could send requests with a false client address.
 */
export async function startForwardedServer(
  { app, refuse }: Pick<Gateway, 'app' | 'refuse'>,
  logger: Logger,
): Promise<ForwardedServer> {
  const folder = makeFolder();
  const path = join(folder, 'main.sock');
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    // Code that reads `remoteAddress` gets the address of the client. The socket can be changed, because each connection has only one request.
    const peer = request.headers[PEER_HEADER];
    delete request.headers[PEER_HEADER];
    Object.defineProperty(request.socket, 'remoteAddress', { value: peer });
    app(request, response);
  };
  const served = Object.assign(serve, { request: app.request, response: app.response });
  const limits = { headerBytesMax: HEADER_BYTES_MAX };
  const server = await startHttpServer({ app: served, refuse, host: '', port: 0, path, logger, limits });
  return {
    path,
    async close(graceMs) {
      await server.close(graceMs);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'weir-main-'));
  } catch (error) {
    const { message } = error as Error;
    throw new ConfigError([`WEIR_GATEWAY_PROCESSES needs a folder for temporary files: ${message}; set TMPDIR`]);
  }
}
