import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { cancelUntilEnded, clientHasLeft } from './cancel-query.ts';
import type { Engine, EngineCall } from './engine.ts';
import { openNamedPipe } from './named-pipe.ts';

/**
 * Sends the answer of a query while the engine computes it, at the speed of the client. Rejects if the query fails before the first
 * byte. If it fails later, the connection is closed without the last chunk of the body, so the client sees that the answer is
 * incomplete.
 */
export async function streamAnswer(
  engine: Engine,
  call: Omit<EngineCall, 'data'>,
  pipeFolder: string,
  res: ServerResponse,
): Promise<void> {
  const pipe = await openNamedPipe(pipeFolder);
  const { source } = pipe;
  // The client can have disconnected while the statement waited for its turn. Then `close` was emitted before the listener below is added.
  if (res.closed) {
    source.destroy();
    pipe.remove();
    throw clientHasLeft();
  }
  const query = engine.writeTo(pipe.path, call);
  // If the query fails, this handler makes reading from the pipe fail with the same error. It is added at once, because `query` can reject
  // before the code below awaits it.
  query.catch((error: unknown) => source.destroy(error instanceof Error ? error : new Error(String(error))));
  const leave = () => source.destroy();
  res.once('close', leave);
  try {
    const chunks = source[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
    const first = await chunks.next();
    // The engine closes the pipe also when the query fails, so only the promise `query` shows whether the answer is complete.
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
    // No process reads the pipe any more. If the query still runs, it must be cancelled, or it would wait for a reader.
    await cancelUntilEnded(() => engine.cancelWriteTo(pipe.path), query);
    // A query that opened the path after the pipe was removed has created a file, with rows of the answer.
    pipe.remove();
  }
}
