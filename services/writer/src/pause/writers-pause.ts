import type { Registry } from '@weir/ports/registry';

/** What a writer needs to know of pauses. */
export type WritersPauses = Pick<Registry, 'writersPause' | 'onWritersPause'>;

/** The swap that asks the writers to pause, if one does. */
export function requestedSwap(pauses: WritersPauses | undefined): number | undefined {
  const pause = pauses?.writersPause();
  return pause === undefined || pause.over ? undefined : pause.swap;
}

/**
 * Only a record that says so ends a pause: this process may not have read the request yet, although the previous owner of the
 * partition followed it.
 */
export function isOver(pauses: WritersPauses, swap: number): boolean {
  const pause = pauses.writersPause();
  return pause !== undefined && (pause.swap > swap || (pause.swap === swap && pause.over));
}
