import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { clickhouseError } from './clickhouse-error.ts';
import type { Engine, EngineCall, EngineResult } from './engine.ts';

const CANCEL_AGAIN_MS = 250;

/**
 * Calls `cancel` again and again until the query has ended: a cancellation has no effect before the query has begun, and it can fail, for example
 * while ClickHouse has no memory for another session. Writes only the first such failure to stderr. Never rejects.
 */
export async function cancelUntilEnded(cancel: () => Promise<void>, query: Promise<unknown>): Promise<void> {
  let running = true;
  const ended = query.then(
    () => {
      running = false;
    },
    () => {
      running = false;
    },
  );
  await Promise.race([ended, pause(0)]);
  let hasFailed = false;
  while (running) {
    await cancel().catch((error: unknown) => {
      if (!hasFailed) process.stderr.write(`cannot cancel a query: ${String(error)}\n`);
      hasFailed = true;
    });
    await Promise.race([ended, pause(CANCEL_AGAIN_MS)]);
  }
}

/**
 * Runs a query, and cancels it when the client closes the connection before the answer. Otherwise the query would run until its
 * time limit.
 */
export async function runForClient(engine: Engine, call: EngineCall, res: ServerResponse): Promise<EngineResult> {
  if (res.closed) throw clientHasLeft();
  const name = randomUUID();
  const query = engine.run({ ...call, name });
  const leave = (): void => {
    void cancelUntilEnded(() => engine.cancel(name), query);
  };
  res.once('close', leave);
  try {
    return await query;
  } finally {
    res.off('close', leave);
  }
}

export function clientHasLeft(): Error {
  return clickhouseError(394, 'QUERY_WAS_CANCELLED', 'The client has closed the connection', 499);
}
