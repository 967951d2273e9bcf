import { AdminRefusal, ConnectionCut } from '../admin-client.ts';
import type { LineChunk } from './chunk-lines.ts';
import type { RowChunk } from './chunk-rows.ts';
import { divideChunk } from './divide-chunk.ts';

type Chunk = LineChunk | RowChunk;

/** Chunks of this size are not divided. An uplink of 26 kbit/s sends them within the 10 s that Weir waits for a request. */
const CHUNK_CHARS_MIN = 32 * 1024;

/**
 * Returns a function that sends chunks. If a chunk takes longer to arrive than Weir waits for a request, the chunk is sent again in halves. Later
 * chunks are then not larger than the halves that arrived. `attempt` sends a chunk once, and `patiently` retries a call while Weir is unreachable.
 */
export function createSendChunk<View extends object>(
  attempt: (chunk: Chunk) => Promise<View>,
  patiently: <T>(call: () => Promise<T>) => Promise<T>,
): (chunk: Chunk) => Promise<View> {
  let charsMax = Number.POSITIVE_INFINITY;

  return async function send(chunk) {
    const chars = JSON.stringify(chunk).length;
    const halves = chars > CHUNK_CHARS_MIN ? divideChunk(chunk) : undefined;
    if (halves === undefined) return patiently(() => attempt(chunk));
    if (chars <= charsMax) {
      const sent = await patiently(() =>
        attempt(chunk).catch((error: unknown) => {
          if (arrivesTooSlowly(error)) return undefined;
          throw error;
        }),
      );
      if (sent !== undefined) return sent;
      charsMax = Math.max(chars / 2, CHUNK_CHARS_MIN);
    }
    await send(halves[0]);
    return send(halves[1]);
  };
}

/** True if Weir or a proxy has probably ended the request before its body was complete. A cut connection can also have another reason. */
function arrivesTooSlowly(error: unknown): boolean {
  return error instanceof ConnectionCut || (error instanceof AdminRefusal && error.status === 408);
}
