import fc from 'fast-check';
import type { EnrichedEvent } from '../../src/pipeline/enriched-event.ts';
import { putSession } from '../../src/steps/put-session.ts';

const MINUTE_MS = 60_000;
const T0 = Date.UTC(2026, 5, 15, 12);

interface Row {
  readonly minute: number;
  readonly id: string;
  readonly moved: boolean;
}

/** A visitor's hits without an ID of their own through the step, in this order. */
function run(minutes: readonly number[]): Row[] {
  const kept = new Map<string, string | undefined>();
  const state = {
    get: (key: string) => kept.get(key),
    set: (key: string, value: string | undefined) => void kept.set(key, value),
  };
  return minutes.map((minute) => {
    const timestamp = T0 + minute * MINUTE_MS;
    const blank = {
      kind: 'collect',
      type: 'pageview',
      siteId: 's',
      visitorId: 'v',
      sessionId: '',
    } as const;
    const hit = { ...blank, linked: false, sessionMoved: false, timestamp } as unknown as EnrichedEvent;
    putSession.prepare?.(hit, new Map());
    putSession.apply?.(hit, { state, firstSeen: undefined });
    return { minute, id: hit.sessionId, moved: hit.sessionMoved };
  });
}

/** The ID of each hit's session when all come in order. */
function inOrder(minutes: readonly number[]): ReadonlyMap<number, string> {
  return new Map(run(minutes.toSorted((a, b) => a - b)).map(({ minute, id }) => [minute, id]));
}

const minutes = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 25 });

describe('put-session: "any order and any repetition of a visitor\'s hits gives the same sessions"', () => {
  test('in order, a session is what no 30 idle minutes part, and its rows bear its ID at once', () => {
    fc.assert(
      fc.property(minutes, (sent) => {
        const rows = run(sent.toSorted((a, b) => a - b));
        rows.slice(1).forEach((row, i) => {
          const before = rows[i] as Row;
          expect(row.id === before.id).toBe(row.minute - before.minute <= 30);
        });
        expect(rows.filter(({ moved }) => moved)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('out of order, no two sessions share an ID, and whenever a row bears another ID than in order, the visitor is flagged', () => {
    fc.assert(
      fc.property(minutes, (sent) => {
        const wanted = inOrder(sent);
        const rows = run(sent);
        const others = rows.filter(({ minute, id }) => id !== wanted.get(minute));
        if (others.length > 0) expect(rows.some(({ moved }) => moved)).toBe(true);
        // What bears one ID is of one session: two are never mixed up.
        const sessionsById = new Map<string, Set<string | undefined>>();
        for (const { id, minute } of rows) {
          sessionsById.set(id, (sessionsById.get(id) ?? new Set()).add(wanted.get(minute)));
        }
        for (const sessions of sessionsById.values()) expect(sessions.size).toBe(1);
      }),
      { numRuns: 2000 },
    );
  });

  test('a hit that comes late within the half hour in which its session starts changes no ID', () => {
    const rows = run([10, 12, 8, 1]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
    expect(rows.some(({ moved }) => moved)).toBe(false);
  });

  test('a late hit between two sessions makes them one, with the ID of the first', () => {
    const [first, second, late, next] = run([5, 50, 28, 60]) as [Row, Row, Row, Row];
    expect(second.id).not.toBe(first.id);
    expect(late).toMatchObject({ id: first.id, moved: true });
    expect(next.id).toBe(first.id);
  });
});
