import type { Gateway } from '@weir/gateway/app';
import { abortable } from '@weir/runtime/abortable';
import type { Config } from '@weir/runtime/config/config';
import { startHttpServer } from '@weir/runtime/http/http-server';
import type { Logger } from '@weir/runtime/logger';
import { startForwardedServer } from '../gateways/forwarded-server.ts';
import type { GatewayProcesses } from '../gateways/gateway-processes.ts';
import type { Stack } from '../stack.ts';

export interface ListenDeps {
  /** The application of this process. */
  readonly web: Gateway;
  /** If defined, these processes listen on the port. They forward the requests that they do not answer themselves to this process. */
  readonly gateways: GatewayProcesses | undefined;
  readonly config: Pick<Config, 'host' | 'port' | 'drainTimeoutMs'>;
  readonly logger: Logger;
  readonly stack: Stack;
  readonly stop: AbortSignal;
}

/** Resolves with the port when Weir accepts requests. */
export async function listenOnPort({ web, gateways, config, logger, stack, stop }: ListenDeps): Promise<number> {
  const { host, port, drainTimeoutMs } = config;
  const { app, refuse } = web;
  if (gateways === undefined) {
    const server = stack.add(await startHttpServer({ app, refuse, host, port, logger }), async (listening) => {
      await listening.close(drainTimeoutMs);
      await web.drain();
    });
    return server.port;
  }
  const server = stack.add(await startForwardedServer(web, logger), (listening) => listening.close(drainTimeoutMs));
  stack.add(gateways);
  return abortable(gateways.start(server.path), stop);
}
