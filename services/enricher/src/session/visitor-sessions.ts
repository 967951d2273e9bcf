/** A new session begins after 30 minutes without a hit of the visitor (docs/api.md, Cookieless mode). */
export const SESSION_IDLE_MS = 30 * 60_000;

/** A session of a visitor: its ID, and the times of its first and last hit. */
export interface VisitorSession {
  readonly id: string;
  readonly start: number;
  readonly last: number;
}

/** The newest session of a visitor, read without parsing the others. */
export interface NewestSession extends VisitorSession {
  /** The state of the visit (visit-stamp.ts). Empty if queries must compute the visit from its rows. */
  readonly visit: string;
  /** The lines of the other sessions, each after a line feed. */
  readonly others: string;
}

/**
 * The beginning of the last line of a text, which can contain the state of the visit of the newest session: `0 0 !<start> <milliseconds to
 * the last hit> <visit>`. Versions without stamps read this line as a session of the year 1970, which no hit joins, and never change it. If
 * such a version has continued the session, the times in this line differ from those of the session, and the state is not used.
 */
const VISIT_LINE = '0 0 !';

/**
 * Encodes a visitor's sessions for the state store: one line for each session, `<start> <milliseconds to the last hit> <id>`, newest first.
 * Encoding as JSON took a sixth of the CPU time of a hit. `visit` is the state of the visit of the newest session.
 */
export function sessionsText(sessions: readonly VisitorSession[], visit = ''): string {
  const lines = sessions.map(({ id, start, last }) => `${start} ${last - start} ${escaped(id)}`).join('\n');
  const [newest] = sessions;
  return newest === undefined ? lines : lines + visitLine(newest, visit);
}

export function readSessions(text: string | undefined): VisitorSession[] {
  if (text === undefined) return [];
  const lines = text.split('\n');
  if (lines.at(-1)?.startsWith(VISIT_LINE)) lines.pop();
  return lines.map(readSession);
}

/** Reads the newest session, which most hits belong to. */
export function readNewest(text: string): NewestSession {
  const end = text.indexOf('\n');
  if (end < 0) return { ...readSession(text), visit: '', others: '' };
  const { id, start, last } = readSession(text.slice(0, end));
  const lastLine = text.lastIndexOf('\n');
  if (!text.startsWith(VISIT_LINE, lastLine + 1)) return { id, start, last, visit: '', others: text.slice(end) };
  const times = `${start} ${last - start} `;
  const from = lastLine + 1 + VISIT_LINE.length;
  const visit = text.startsWith(times, from) ? unescaped(text.slice(from + times.length)) : '';
  return { id, start, last, visit, others: text.slice(end, lastLine) };
}

/** Encodes the sessions of a visitor after a change of the newest one. */
export function newestText(newest: NewestSession): string {
  const { id, start, last, visit, others } = newest;
  return `${start} ${last - start} ${escaped(id)}${others}${visitLine(newest, visit)}`;
}

function visitLine({ start, last }: VisitorSession, visit: string): string {
  return visit === '' ? '' : `\n${VISIT_LINE}${start} ${last - start} ${escaped(visit)}`;
}

/**
 * Whether a hit belongs to the newest session, which no other session can follow. Without a session ID, it must be within 30 minutes of
 * the session.
 */
export function isWithinNewest({ id, start, last }: VisitorSession, sentId: string, at: number): boolean {
  return at >= start && (sentId === '' ? at <= last + SESSION_IDLE_MS : sentId === id);
}

/**
 * Returns the ID of the session that contains the time `at` of a hit, or undefined. A hit within a session does not change the state, so
 * the caller needs only this ID. To save time, the function does not parse all sessions.
 */
export function idWithin(text: string, at: number): string | undefined {
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from);
    const end = newline < 0 ? text.length : newline;
    const first = text.indexOf(' ', from);
    const start = Number(text.slice(from, first));
    if (at >= start) {
      const second = text.indexOf(' ', first + 1);
      if (at <= start + Number(text.slice(first + 1, second))) return unescaped(text.slice(second + 1, end));
    }
    from = end + 1;
  }
  return undefined;
}

/**
 * Returns the session that was active at the time or ended at most 30 minutes before it, or else one that begins at most 30 minutes
 * after it.
 */
export function sessionAt(sessions: readonly VisitorSession[], at: number): VisitorSession | undefined {
  return (
    sessions.find(({ start, last }) => at >= start && at <= last + SESSION_IDLE_MS) ??
    sessions.find(({ start }) => at < start && at >= start - SESSION_IDLE_MS)
  );
}

/** Returns the sessions without those in `gone`, and with `added`. Keeps at most the `max` newest ones. */
export function replaced(
  sessions: readonly VisitorSession[],
  gone: readonly VisitorSession[],
  added: VisitorSession,
  max: number,
): VisitorSession[] {
  const kept = sessions.filter((session) => !gone.includes(session));
  const at = kept.findIndex(({ start }) => start <= added.start);
  kept.splice(at < 0 ? kept.length : at, 0, added);
  return kept.slice(0, max);
}

function readSession(line: string): VisitorSession {
  const first = line.indexOf(' ');
  const second = line.indexOf(' ', first + 1);
  const start = Number(line.slice(0, first));
  const last = start + Number(line.slice(first + 1, second));
  return { id: unescaped(line.slice(second + 1)), start, last };
}

function escaped(id: string): string {
  return /[%\n]/.test(id) ? id.replaceAll('%', '%25').replaceAll('\n', '%0A') : id;
}

function unescaped(text: string): string {
  return text.includes('%') ? text.replaceAll('%0A', '\n').replaceAll('%25', '%') : text;
}
