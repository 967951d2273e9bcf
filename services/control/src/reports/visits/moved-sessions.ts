import { madeSessionId, SESSION_IDLE_MS } from '@weir/domain/records/made-session';

/** Rows of one visitor that are stored with the same session ID. Only session IDs that Weir has made, not those that a client has sent. */
export interface SessionFragment {
  readonly visitorId: string;
  readonly storedId: string;
  readonly beganMs: number;
  readonly endedMs: number;
}

/**
 * Returns the sessions whose ID has changed since some of their rows were stored: the ID in these rows, and the present ID. The result equals that of
 * `findMoved` (visit-rows.ts): fragments of a visitor that are at most 30 minutes apart are one session, and the ID of a session is computed from its
 * start.
 */
export function movedSessions(
  siteId: string,
  fragments: readonly SessionFragment[],
): readonly { readonly storedId: string; readonly presentId: string }[] {
  const ordered = [...fragments].sort(
    (a, b) => compare(a.visitorId, b.visitorId) || a.beganMs - b.beganMs || compare(a.storedId, b.storedId),
  );
  const moved: { storedId: string; presentId: string }[] = [];
  let open = { visitorId: '', presentId: '', endedMs: Number.NEGATIVE_INFINITY };
  for (const { visitorId, storedId, beganMs, endedMs } of ordered) {
    const continues = visitorId === open.visitorId && beganMs <= open.endedMs + SESSION_IDLE_MS;
    open = continues
      ? { ...open, endedMs: Math.max(open.endedMs, endedMs) }
      : { visitorId, presentId: madeSessionId(siteId, visitorId, beganMs), endedMs };
    if (open.presentId !== storedId) moved.push({ storedId, presentId: open.presentId });
  }
  return moved;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
