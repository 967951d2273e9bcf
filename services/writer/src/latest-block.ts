import { type Analytics, TOKEN_KEPT_BLOCKS } from '@weir/ports/analytics';
import type { Plan } from './plan.ts';

const READ_EVERY_MS = 5_000;

/** Returns a function that resolves with the latest block of `records`, as it was at most 5 s ago. All partitions of a process share it. */
export function createLatestBlock(
  analytics: Pick<Analytics, 'latestBlock'>,
  now: () => number,
): () => Promise<number | undefined> {
  let read: { readonly at: number; readonly block: Promise<number | undefined> } | undefined;
  return async () => {
    if (read === undefined || now() - read.at >= READ_EVERY_MS) read = { at: now(), block: analytics.latestBlock() };
    const { block } = read;
    try {
      return await block;
    } catch (error) {
      if (read?.block === block) read = undefined;
      throw error;
    }
  };
}

/**
 * Whether the rows of a plan are stored, and ClickHouse may have forgotten the token of their insert. A repeated insert could then store them a second
 * time.
 */
export async function isTokenForgotten(
  { to, block }: Plan,
  logId: string,
  partition: number,
  analytics: Pick<Analytics, 'highestRawOffset' | 'latestBlock'>,
): Promise<boolean> {
  const latest = block === undefined ? undefined : await analytics.latestBlock();
  if (block === undefined || latest === undefined || latest - block < TOKEN_KEPT_BLOCKS) return false;
  return (await analytics.highestRawOffset(logId, partition)) >= to;
}
