import { bareApp, createOperations } from '@weir/gateway/operations';
import { createReplies } from '@weir/gateway/reply';
import type { Config } from '@weir/runtime/config';
import { startHttpServer } from '@weir/runtime/http-server';
import type { Logger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/metrics';

const NOBODY_COUNTS = () => undefined;

/**
 * Listens where Weir will, while the event log is waited for: alive, not ready, and 503 with `Retry-After` for whoever sends. A
 * probe of liveness would end the process otherwise, and a sender give up.
 */
export async function answerMeanwhile(config: Config, logger: Logger): Promise<{ close(): Promise<unknown> }> {
  const collect = createReplies('collect', NOBODY_COUNTS);
  const identify = createReplies('identify', NOBODY_COUNTS);
  const other = createReplies('other', NOBODY_COUNTS);
  const router = bareApp();
  router.all(['/api/collect', ...config.collectPaths], (_, response) => collect.unavailable(response));
  router.all('/api/identify', (_, response) => identify.unavailable(response));
  router.use((_, response) => other.unavailable(response));
  const ready = async () => ['event log'];
  const served = createOperations({ config, logger, metrics: createMetrics(), ready, routers: [router] });
  const server = await startHttpServer({ ...served, host: config.host, port: config.port, logger });
  return { close: () => server.close(0) };
}
