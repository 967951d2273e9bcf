import type { RequestHandler } from 'express';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Replies } from '../reply.ts';

/** Alive: the process answers. */
export function healthz(replies: Replies): RequestHandler {
  const body = JSON.stringify({ status: 'ok' });
  return (_request, response) => replies.json(response, 200, body);
}

/** Able to accept: everything that this process waits for is there. */
export function readyz(ready: GatewayDeps['ready'], replies: Replies): RequestHandler {
  return async (_request, response) => {
    const missing = await ready();
    if (missing.length === 0) replies.json(response, 200, JSON.stringify({ status: 'ready' }));
    else replies.json(response, 503, JSON.stringify({ status: 'not ready', missing }));
  };
}

/** Prometheus text. */
export function metricsText(metrics: GatewayDeps['metrics']): RequestHandler {
  return async (_request, response) => {
    const text = await metrics.metrics();
    response.set('Content-Type', metrics.contentType).send(text);
  };
}

/** The contract (OpenAPI 3.1). */
export function openapi(document: object, replies: Replies): RequestHandler {
  const body = JSON.stringify(document);
  return (_request, response) => replies.json(response, 200, body);
}
