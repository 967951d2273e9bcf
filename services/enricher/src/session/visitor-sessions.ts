import { SESSION_IDLE_MS } from '@weir/domain/records/made-session';

/** A session of a visitor: its ID, and the times of its first and last hit. */
export interface VisitorSession {
  readonly id: string;
  readonly start: number;
  readonly last: number;
}

/**
 * The newest session of a visitor, and the text of the visitor's state with the positions of its parts. All other parts of the text are read only if
 * they are needed.
 */
export interface NewestSession extends VisitorSession {
  readonly text: string;
  /** The position in `text` of the space before the ID of the session. */
  readonly idSpace: number;
  /** The position in `text` at which the first line ends. */
  readonly lineEnd: number;
}

/**
 * The beginning of a line with the state of the newest session's visit. It is the last line of a visitor's state, and can be missing: `0 0 !<start>
 * <milliseconds to the last hit> <visit>`. Older versions of Weir read the line as a session of the year 1970. No hit joins this session, so these
 * versions never change the line. If such a version has continued the newest session, the times in the line differ from those of the session. The
 * state of the visit is then not used.
 */
const VISIT_LINE = '0 0 !';
const ZERO = 48;

/**
 * Encodes a visitor's sessions for the state store: one line for each session, `<start> <milliseconds to the last hit> <id>`, newest first.
 * Encoding as JSON took a sixth of the CPU time of a hit. `visit` is the state of the visit of the newest session.
 */
export function sessionsText(sessions: readonly VisitorSession[], visit = ''): string {
  let lines = '';
  for (const { id, start, last } of sessions) {
    lines += `${lines === '' ? '' : '\n'}${start} ${last - start} ${escaped(id)}`;
  }
  const [newest] = sessions;
  if (newest === undefined || visit === '') return lines;
  return `${lines}\n${VISIT_LINE}${newest.start} ${newest.last - newest.start} ${escaped(visit)}`;
}

export function readSessions(text: string | undefined): VisitorSession[] {
  if (text === undefined) return [];
  const lines = text.split('\n');
  if (lines.at(-1)?.startsWith(VISIT_LINE)) lines.pop();
  return lines.map(readSession);
}

/** Reads the newest session, which most hits belong to. */
export function readNewest(text: string): NewestSession {
  const newline = text.indexOf('\n');
  const lineEnd = newline < 0 ? text.length : newline;
  const space = text.indexOf(' ');
  const idSpace = text.indexOf(' ', space + 1);
  const start = numberIn(text, 0, space);
  const last = start + numberIn(text, space + 1, idSpace);
  return { id: unescaped(text.slice(idSpace + 1, lineEnd)), start, last, text, idSpace, lineEnd };
}

/** The state of the visit of the newest session (visit-stamp.ts). Empty if queries must compute the visit from its rows. */
export function visitOf(newest: NewestSession): string {
  const { text, idSpace } = newest;
  const from = sessionsEnd(newest) + 1 + VISIT_LINE.length;
  const times = text.slice(0, idSpace + 1);
  return text.startsWith(times, from) ? unescaped(text.slice(from + times.length)) : '';
}

/** Encodes the sessions of a visitor after a hit of the newest session. `last` and `visit`: the new values of this session. */
export function newestText(newest: NewestSession, last: number, visit: string): string {
  const { text, start, idSpace } = newest;
  const times = `${text.slice(0, text.indexOf(' ') + 1)}${last - start}`;
  const sessions = times + text.slice(idSpace, sessionsEnd(newest));
  return visit === '' ? sessions : `${sessions}\n${VISIT_LINE}${times} ${escaped(visit)}`;
}

/** The position at which the lines of the sessions end and the line with the state of the visit begins. */
function sessionsEnd({ text, lineEnd }: NewestSession): number {
  const isTwoLines = text.indexOf('\n', lineEnd + 1) < 0;
  const end = isTwoLines ? lineEnd : text.lastIndexOf('\n');
  return text.startsWith(VISIT_LINE, end + 1) ? end : text.length;
}

/**
 * Whether a hit belongs to the newest session: the hit is not before the start of the session, and has the ID of the session. A hit without
 * a session ID must be at most 30 minutes after the last hit of the session.
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
    const start = numberIn(text, from, first);
    if (at >= start) {
      const second = text.indexOf(' ', first + 1);
      if (at <= start + numberIn(text, first + 1, second)) return unescaped(text.slice(second + 1, end));
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

/** Returns the sessions without those in `gone`, plus `added`, newest first. Keeps at most the `max` newest ones. */
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
  const start = numberIn(line, 0, first);
  const last = start + numberIn(line, first + 1, second);
  return { id: unescaped(line.slice(second + 1)), start, last };
}

/** The whole number in a part of a text. `Number` of a slice takes three times as long. */
function numberIn(text: string, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) number = number * 10 + text.charCodeAt(i) - ZERO;
  return number;
}

function escaped(id: string): string {
  return /[%\n]/.test(id) ? id.replaceAll('%', '%25').replaceAll('\n', '%0A') : id;
}

function unescaped(text: string): string {
  return text.includes('%') ? text.replaceAll('%0A', '\n').replaceAll('%25', '%') : text;
}
