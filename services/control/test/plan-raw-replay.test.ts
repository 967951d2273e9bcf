import { utcDay } from '@weir/domain/people/cookieless';
import type { EventLog } from '@weir/ports/event-log';
import { planRawReplay } from '../src/replay/raw/plan-raw-replay.ts';

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 2, 10, 12);
/** One record per minute, since this time. */
const FIRST_AT = NOW - 5 * DAY_MS;

/** A log with one partition, whose record n was appended n minutes after `FIRST_AT`. */
function plan({
  rawRetentionMs = 30 * DAY_MS,
  saltsFrom = FIRST_AT,
  first = 0,
  stored = Number.MAX_SAFE_INTEGER,
  since = 0,
}) {
  const end = (NOW - FIRST_AT) / 60_000;
  const eventLog = {
    logId: 'log',
    positions: async (topic: string) =>
      topic === 'events.raw' ? [{ partition: 0, first, end }] : [{ partition: 0, first: 7, end: 7 }],
    offsetsAtTime: async (_topic: string, timeMs: number) => [
      Math.min(end, Math.max(first, Math.ceil((timeMs - FIRST_AT) / 60_000))),
    ],
  } as unknown as EventLog;
  return planRawReplay(
    {
      eventLog,
      analytics: { highestRawOffset: async () => Math.min(end, stored) - 1 },
      registry: { existingSalt: (day) => (day >= utcDay(saltsFrom) ? 'salt' : undefined) },
      clock: () => NOW,
      raw: { retentionMs: rawRetentionMs },
    },
    since === 0 ? {} : { sinceMs: since },
  );
}

const minutesAfterFirst = (timeMs: number): number => (timeMs - FIRST_AT) / 60_000;

test('a replay from raw begins with the first record of the log, and at the end of the replayed outcomes', async () => {
  expect(await plan({})).toEqual({ starts: [{ offset: 7, rawOffset: 0, rawEnd: 7_200 }], note: undefined });
});

test('with `since`, it begins an hour before', async () => {
  const since = NOW - 10 * HOUR_MS;
  expect(await plan({ since })).toMatchObject({
    starts: [{ rawOffset: minutesAfterFirst(since - HOUR_MS) }],
    note: undefined,
  });
});

test('records that expire within a day are copied', async () => {
  const { starts, note } = await plan({ rawRetentionMs: 5 * DAY_MS });
  expect(starts[0]?.rawOffset).toBe(minutesAfterFirst(NOW - 4 * DAY_MS));
  expect(note).toMatch(/before 2026-03-06T12:00:00.000Z are copied.*expire/);
});

test('records without a salt are copied, and those of the first hours of the next day, which need it', async () => {
  const { starts, note } = await plan({ saltsFrom: NOW - 2 * DAY_MS });
  expect(starts[0]?.rawOffset).toBe(minutesAfterFirst(Date.UTC(2026, 2, 8, 5)));
  expect(note).toMatch(/before 2026-03-08T05:00:00.000Z are copied.*salts/);
});

test('it never begins after what the tables have', async () => {
  expect((await plan({ since: NOW - 2 * HOUR_MS, stored: 100 })).starts).toEqual([
    { offset: 7, rawOffset: 100, rawEnd: 100 },
  ]);
});
