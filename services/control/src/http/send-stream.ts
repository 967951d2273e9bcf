import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDependencyError } from '@weir/domain/errors';
import type { Logger } from '@weir/runtime/logger';
import type { Response } from 'express';

/** An answer that is sent while it is computed. */
export interface StreamReply {
  readonly status: 200;
  readonly stream: Readable;
  readonly contentType: string;
  /** The name under which the browser stores the answer. Absent if the answer is not a file. */
  readonly fileName?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** If the client reads nothing for this time, Weir closes the connection. Otherwise a client that does not read could block a query of ClickHouse. */
const STALL_MS = 120_000;

/**
 * Sends the stream in chunks, at the speed of the client. If the stream fails, the connection is closed without the last chunk, so
 * the client sees that the answer is incomplete. If the client disconnects, the stream is destroyed.
 */
export async function sendStream(
  response: Response,
  reply: StreamReply,
  logger: Logger,
  stallMs = STALL_MS,
): Promise<void> {
  const { stream, contentType, fileName, headers } = reply;
  response.status(200).set({ ...headers, 'Content-Type': contentType });
  if (fileName !== undefined) response.set('Content-Disposition', `attachment; filename="${fileName}"`);
  // If no byte waits for the client, ClickHouse is slow and not the client. So the connection stays open, and the next byte starts the timer again.
  response.setTimeout(stallMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
  try {
    await pipeline(stream, response);
  } catch (error) {
    // The log line does not contain the error message, because the message can quote stored values.
    logger.warn(
      { code: isDependencyError(error) ? error.code : (error as NodeJS.ErrnoException).code },
      'a streamed answer was cut',
    );
  }
}
