import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Engine, EngineCall } from './engine.ts';
import { openNamedPipe } from './named-pipe.ts';

const CANCEL_AGAIN_MS = 250;

/**
 * Sends the answer of a query while the engine computes it, at the speed of the reader. Rejects before the first byte if the query
 * fails before it; after it, a failure cuts the connection within the chunked body, so the reader never takes a part for the whole.
 */
export async function streamAnswer(
  engine: Engine,
  call: Omit<EngineCall, 'data'>,
  pipeFolder: string,
  res: ServerResponse,
): Promise<void> {
  const pipe = await openNamedPipe(pipeFolder);
  const { source } = pipe;
  const query = engine.writeTo(pipe.path, call);
  // The reason why the pipe stays empty. The handler at `query` below may come too late for an early rejection.
  query.catch((error: unknown) => source.destroy(error instanceof Error ? error : new Error(String(error))));
  const leave = () => source.destroy();
  res.once('close', leave);
  try {
    const chunks = source[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
    const first = await chunks.next();
    // The engine also closes the pipe when the query fails: only its promise tells that the answer is complete.
    if (first.done) await query;
    await pipeline(async function* () {
      if (!first.done) yield first.value;
      yield* chunks;
      await query;
    }, res);
  } finally {
    res.off('close', leave);
    source.destroy();
    pipe.remove();
    await end(engine, pipe.path, query);
  }
}

/** Resolves when the query has ended. The engine would write on into a pipe that nothing reads (EPIPE), so its query is killed. */
async function end(engine: Engine, path: string, query: Promise<void>): Promise<void> {
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
  while (running) {
    // Again: the first one may come before the query has begun.
    await engine.cancelWriteTo(path);
    await Promise.race([ended, pause(CANCEL_AGAIN_MS)]);
  }
}
