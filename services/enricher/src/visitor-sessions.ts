/** A session of a visitor: its ID, first and last time. */
export interface VisitorSession {
  readonly id: string;
  start: number;
  last: number;
}

/**
 * A visitor's sessions as the state store keeps them. Nearly every visitor has one: `<start> <last> <id>`, which costs a tenth
 * of JSON; several are a JSON array of such texts.
 */
export function sessionsText(sessions: readonly VisitorSession[]): string {
  const [only] = sessions;
  if (only !== undefined && sessions.length === 1) return sessionText(only);
  return JSON.stringify(sessions.map(sessionText));
}

export function readSessions(text: string | undefined): VisitorSession[] {
  if (text === undefined) return [];
  return text.startsWith('[') ? (JSON.parse(text) as string[]).map(readSession) : [readSession(text)];
}

function sessionText({ id, start, last }: VisitorSession): string {
  return `${start} ${last} ${id}`;
}

function readSession(text: string): VisitorSession {
  const first = text.indexOf(' ');
  const second = text.indexOf(' ', first + 1);
  return {
    start: Number(text.slice(0, first)),
    last: Number(text.slice(first + 1, second)),
    id: text.slice(second + 1),
  };
}
