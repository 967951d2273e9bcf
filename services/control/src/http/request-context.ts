import type { Response } from 'express';

/** What the queries of one admin request share. */
export interface RequestContext {
  /** Aborts when every client that waits for the answer has disconnected. The queries are then cancelled. */
  readonly signal: AbortSignal;
  readonly timing: ServerTiming;
}

export interface ServerTiming {
  /** The time for which the request waited before its first query. */
  queueMs: number;
  /** The sum of the times of all queries. */
  databaseMs: number;
}

export function newTiming(): ServerTiming {
  return { queueMs: 0, databaseMs: 0 };
}

/** A signal that aborts when the client closes the connection before it has the whole answer. */
export function signalOf(response: Response): AbortSignal {
  const abort = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) abort.abort();
  });
  return abort.signal;
}

/**
 * Returns the value of the header `Server-Timing` (https://www.w3.org/TR/server-timing/). `isShared`: the work was done for an earlier
 * request.
 */
export function serverTimingText({ queueMs, databaseMs }: ServerTiming, totalMs: number, isShared: boolean): string {
  const metric = (name: string, ms: number): string => `${name};dur=${ms.toFixed(1)}`;
  const parts = [metric('queue', queueMs), metric('db', databaseMs), metric('total', totalMs)];
  return [...parts, ...(isShared ? ['shared'] : [])].join(', ');
}
