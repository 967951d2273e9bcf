import { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '@weir/testkit/eventually';
import { startHttpServer } from '../src/http/http-server.ts';
import { createLogger } from '../src/logger.ts';

test('a connection that was never used does not delay the close', async () => {
  const server = await startHttpServer({
    app: Object.assign(() => undefined, { request: IncomingMessage.prototype, response: ServerResponse.prototype }),
    refuse: () => undefined,
    host: '127.0.0.1',
    port: 0,
    logger: createLogger('silent'),
  });
  const silent = connect(server.port, '127.0.0.1');
  let cut = false;
  silent.on('close', () => {
    cut = true;
  });
  await new Promise<void>((resolve) => silent.once('connect', resolve));
  await server.close(3_600_000);
  await eventually('the connection is closed', () => cut);
});
