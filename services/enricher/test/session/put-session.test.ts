import fc from 'fast-check';
import type { EnrichedEvent } from '../../src/pipeline/enriched-event.ts';
import { putSession } from '../../src/steps/put-session.ts';
import { NO_BOT } from '../../src/user-agent/judge-bot.ts';

const MINUTE_MS = 60_000;
const T0 = Date.UTC(2026, 5, 15, 12);

interface Row {
  readonly minute: number;
  readonly id: string;
  readonly moved: boolean;
}

/** Applies the step to hits of one visitor without a session ID, in this order. */
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
    const filled = {
      bot: NO_BOT,
      eventName: '',
      pathname: '/',
      visitSourceJson: '',
      linked: false,
      sessionMoved: false,
    };
    const hit = { ...blank, ...filled, timestamp } as unknown as EnrichedEvent;
    putSession.prepare?.(hit, new Map());
    putSession.apply?.(hit, { state, firstSeen: undefined });
    return { minute, id: hit.sessionId, moved: hit.sessionMoved };
  });
}

/** Maps the minute of each hit to its session ID, if all hits arrive in order. */
function inOrder(minutes: readonly number[]): ReadonlyMap<number, string> {
  return new Map(run(minutes.toSorted((a, b) => a - b)).map(({ minute, id }) => [minute, id]));
}

const minutes = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 25 });

describe('put-session: the order and repetition of hits do not change the sessions', () => {
  test('in order: more than 30 idle minutes end a session, and all rows have the final ID at once', () => {
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

  test('out of order: sessions never share an ID, and the visitor is flagged if a row has another ID than in order', () => {
    fc.assert(
      fc.property(minutes, (sent) => {
        const wanted = inOrder(sent);
        const rows = run(sent);
        const others = rows.filter(({ minute, id }) => id !== wanted.get(minute));
        if (others.length > 0) expect(rows.some(({ moved }) => moved)).toBe(true);
        // All rows with one ID belong to one session: two sessions are never mixed.
        const sessionsById = new Map<string, Set<string | undefined>>();
        for (const { id, minute } of rows) {
          sessionsById.set(id, (sessionsById.get(id) ?? new Set()).add(wanted.get(minute)));
        }
        for (const sessions of sessionsById.values()) expect(sessions.size).toBe(1);
      }),
      { numRuns: 2000 },
    );
  });

  test('a late hit within the half hour in which its session starts changes no ID', () => {
    const rows = run([10, 12, 8, 1]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
    expect(rows.some(({ moved }) => moved)).toBe(false);
  });

  test('a late hit between two sessions joins them into one, with the ID of the first', () => {
    const [first, second, late, next] = run([5, 50, 28, 60]) as [Row, Row, Row, Row];
    expect(second.id).not.toBe(first.id);
    expect(late).toMatchObject({ id: first.id, moved: true });
    expect(next.id).toBe(first.id);
  });
});
