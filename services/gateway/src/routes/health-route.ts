import type { OperationsDeps } from '../gateway-deps.ts';
import type { Replies } from '../http/gateway-reply.ts';
import type { Handle } from '../http/route.ts';

/** Answers 200 as long as the process can answer. */
export function healthz(_deps: OperationsDeps, replies: Replies): Handle {
  const body = JSON.stringify({ status: 'ok' });
  return (_request, response) => replies.json(response, 200, body);
}

/**
 * Answers 200 if the process can accept requests; otherwise 503 with the names of what is not ready. Requests that arrive during a check get its
 * result, so that clients cannot cause many requests to the engines at the same time.
 */
export function readyz({ ready, notes }: OperationsDeps, replies: Replies): Handle {
  const check = () => Promise.all([ready(), notes?.() ?? []]);
  let checking: ReturnType<typeof check> | undefined;
  return async (_request, response) => {
    checking ??= check().finally(() => {
      checking = undefined;
    });
    const [missing, noted] = await checking;
    const more = noted.length === 0 ? {} : { notes: noted };
    if (missing.length === 0) replies.json(response, 200, JSON.stringify({ status: 'ready', ...more }));
    else replies.json(response, 503, JSON.stringify({ status: 'not ready', missing, ...more }));
  };
}

/** Returns the metrics in the text format of Prometheus. */
export function metricsText({ metrics, metricsText: textOf = () => metrics.metrics() }: OperationsDeps): Handle {
  return async (_request, response) => {
    const text = await textOf();
    response.setHeader('Content-Type', metrics.contentType);
    response.end(text);
  };
}

export function openApi({ openApiDocument }: OperationsDeps, replies: Replies): Handle {
  const body = JSON.stringify(openApiDocument);
  return (_request, response) => replies.json(response, 200, body);
}
