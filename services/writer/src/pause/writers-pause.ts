import type { Registry } from '@weir/ports/registry';

export type WritersPauses = Pick<Registry, 'writersPause' | 'onWritersPause'>;

/** The number of the swap (an exchange of all tables) or backup for which the writers must pause now, if any. */
export function requestedSwap(pauses: WritersPauses | undefined): number | undefined {
  const pause = pauses?.writersPause();
  return pause === undefined || pause.over ? undefined : pause.swap;
}

/**
 * Whether this swap is over: the registry (`pauses`) says so, or contains the request of a later swap. If the registry has no request, the result
 * is false. The previous owner of the partition has paused for this swap, but perhaps this process has not read the request yet.
 */
export function isOver(pauses: WritersPauses, swap: number): boolean {
  const pause = pauses.writersPause();
  return pause !== undefined && (pause.swap > swap || (pause.swap === swap && pause.over));
}
