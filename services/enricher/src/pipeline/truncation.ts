import type { Commit } from '@weir/ports/event-log';

/**
 * Returns the metadata of a commit of the enricher. `truncatedAt`: the offset at which the raw partition ended when it was found that the log has
 * lost records. Undefined if it has lost none.
 */
export function truncationText(truncatedAt: number | undefined): string {
  return truncatedAt === undefined ? '' : String(truncatedAt);
}

export function truncationOf(committed: Commit | undefined): number | undefined {
  const { metadata = '' } = committed ?? {};
  return metadata === '' ? undefined : Number(metadata);
}
