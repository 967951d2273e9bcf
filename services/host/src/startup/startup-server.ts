import { createOperations } from '@weir/gateway/app';
import { createReplies } from '@weir/gateway/http/gateway-reply';
import { bareApp } from '@weir/gateway/http/mount-routes';
import type { Config } from '@weir/runtime/config/config';
import { startHttpServer } from '@weir/runtime/http/http-server';
import type { Logger } from '@weir/runtime/logger';
import { createMetrics, createRegistryMetric } from '@weir/runtime/prometheus-metrics';
import { openApiDocument } from '../openapi-document.ts';

const NOT_COUNTED = () => undefined;

/**
 * Listens on Weir's port while the process waits for the event log. It reports that the process is alive but not ready, and serves the
 * metrics and the OpenAPI document. It answers all other requests with 503 and `Retry-After`. Without this server, an orchestrator would
 * end the process because its liveness probe fails, and clients would get connection errors.
 */
export async function openStartupServer(config: Config, logger: Logger): Promise<{ close(): Promise<unknown> }> {
  const collect = createReplies('collect', NOT_COUNTED);
  const identify = createReplies('identify', NOT_COUNTED);
  const other = createReplies('other', NOT_COUNTED);
  const router = bareApp();
  router.all(['/api/collect', ...config.collectPaths], (_, response) => collect.unavailable(response));
  router.all('/api/identify', (_, response) => identify.unavailable(response));
  router.use((_, response) => other.unavailable(response));
  const ready = async () => ['event log'];
  const metrics = createMetrics();
  // The process has not read the registry since it began. The alert WeirRegistryUnread uses this metric.
  createRegistryMetric(metrics, () => process.uptime());
  const served = createOperations({
    logger,
    metrics,
    ready,
    routers: [router],
    openApiDocument: openApiDocument(config.collectPaths),
  });
  const server = await startHttpServer({ ...served, host: config.host, port: config.port, logger });
  return { close: () => server.close(0) };
}
