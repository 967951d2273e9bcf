/** A session of a visitor: its ID, first and last time. */
export interface VisitorSession {
  readonly id: string;
  start: number;
  last: number;
}

/**
 * A visitor's sessions as the state store keeps them: a line each, `<start> <milliseconds to the last hit> <id>`, the one that
 * began to be seen last first. Not JSON: reading and writing it was a sixth of all that a hit cost.
 */
export function sessionsText(sessions: readonly VisitorSession[]): string {
  return sessions.map(({ id, start, last }) => `${start} ${last - start} ${escaped(id)}`).join('\n');
}

export function readSessions(text: string | undefined): VisitorSession[] {
  return text === undefined ? [] : text.split('\n').map(readSession);
}

/** What nearly every hit does: the session of the first line goes on. Undefined where it is another one's, or no hit within `idleMs`. */
export function prolongFirst(
  text: string,
  id: string,
  at: number,
  idleMs: number,
): { readonly id: string; readonly text: string } | undefined {
  const end = text.indexOf('\n');
  const line = end < 0 ? text : text.slice(0, end);
  const { id: own, start, last } = readSession(line);
  if (id === '' ? at < start || at > last + idleMs : id !== own || at < start) return undefined;
  if (at <= last) return { id: own, text };
  const rest = end < 0 ? '' : text.slice(end);
  return { id: own, text: `${start} ${at - start} ${escaped(own)}${rest}` };
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
