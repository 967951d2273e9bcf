import { SESSION_IDLE_MS } from '@weir/domain/records/made-session';
import type { VisitorSession } from '../session/visitor-sessions.ts';
import { MADE_ID, SESSIONS_KEPT_MAX } from '../steps/put-session.ts';

/** The rows of a visitor with the same session ID. */
export interface SessionRows extends VisitorSession {
  /** The highest raw offset (offset in `events.raw`) of these rows. */
  readonly newest: number;
}

/**
 * Returns the sessions of a visitor, newest first, as they are in the enricher's state after it has processed these rows. A late hit can have joined
 * sessions whose IDs Weir made (`MADE_ID`) into one session. Rows that were stored before this hit still have the former IDs. The row with the
 * highest raw offset has the ID of the joined session.
 */
export function sessionsOfRows(rows: readonly SessionRows[]): readonly VisitorSession[] {
  const sessions: SessionRows[] = [];
  let open: SessionRows | undefined;
  for (const one of rows.toSorted((a, b) => a.start - b.start)) {
    if (!MADE_ID.test(one.id)) sessions.push(one);
    else if (open !== undefined && one.start <= open.last + SESSION_IDLE_MS) {
      const { id, newest } = one.newest > open.newest ? one : open;
      open = { id, newest, start: open.start, last: Math.max(open.last, one.last) };
    } else {
      if (open !== undefined) sessions.push(open);
      open = one;
    }
  }
  if (open !== undefined) sessions.push(open);
  return sessions.sort((a, b) => b.start - a.start).slice(0, SESSIONS_KEPT_MAX);
}
