import { createWaitingGateway } from '@weir/gateway/app';
import type { Config } from '@weir/runtime/config/config';
import { startHttpServer } from '@weir/runtime/http/http-server';
import type { Logger } from '@weir/runtime/logger';
import { createMetrics, createRegistryMetric } from '@weir/runtime/prometheus-metrics';
import { openApiDocument } from '../openapi-document.ts';

/**
 * Listens on Weir's port while the process waits for the event log. It reports that the process is alive but not ready, and serves the
 * metrics and the OpenAPI document. It answers 503 with `Retry-After` to all requests that need the event log, and to all paths of other roles.
 * Without this server, an orchestrator would end the process because its liveness probe fails, and clients would get connection errors.
 */
export async function openStartupServer(config: Config, logger: Logger): Promise<{ close(): Promise<unknown> }> {
  const ready = async () => ['event log'];
  const metrics = createMetrics();
  // The process has not read the registry since it began. The alert WeirRegistryUnread uses this metric.
  createRegistryMetric(metrics, () => process.uptime());
  const openApi = openApiDocument(config.collectPaths);
  const deps = { logger, metrics, ready, openApiDocument: openApi };
  const served = createWaitingGateway(deps, config.collectPaths);
  const server = await startHttpServer({ ...served, host: config.host, port: config.port, logger });
  return { close: () => server.close(0) };
}
