import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fakeTimeEnv, whyNoFakeTime } from '../fake-time.ts';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import type { Fault, Round } from '../suite/fault.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** libfaketime reads the file with the offset of the clock again after this many seconds. */
const CACHE_SECONDS = 1;
/** After each jump, clients send requests for this time before the next jump. */
const STAYS_MS = 2_500;

/** A Weir whose clock can jump. Timers are not affected, as on a real machine. The clock of its ClickHouse process does not jump. */
interface WithClock extends Embedded {
  /** Sets the difference between the clock and the real time, in seconds. */
  moveTo(seconds: number): Promise<void>;
}

async function openWithClock(): Promise<WithClock> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-clock-'));
  const file = join(folder, 'offset');
  writeFileSync(file, '+0');
  const env = {
    ...fakeTimeEnv(),
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: String(CACHE_SECONDS),
  };
  const opened = await openEmbedded({ env }, async () => rmSync(folder, { recursive: true }));
  return {
    ...opened,
    async moveTo(seconds) {
      writeFileSync(file, `${seconds < 0 ? '' : '+'}${Math.round(seconds)}`);
      await pause(CACHE_SECONDS * 1_000 + STAYS_MS); // the clock stays there for a while, so the pause is part of the test
    },
  };
}

/** The time from now until the next midnight UTC, in seconds. */
function toMidnight(): number {
  return DAY_SECONDS - ((Date.now() / 1_000) % DAY_SECONDS);
}

const jump = (
  name: string,
  about: string,
  strike: (weir: WithClock, round: Round) => Promise<void>,
  more: Pick<Fault<WithClock>, 'sendsKeysAgain' | 'forgetsVisits'> = {},
): Fault<WithClock> => ({
  ...{ name, about, strike, ...more },
  problem: whyNoFakeTime,
  open: openWithClock,
  shares: 'with a clock',
});

const FAULTS: readonly Fault<WithClock>[] = [
  jump(
    'clock-hour',
    'the clock jumps forward or back by one hour, and later back',
    async ({ moveTo }, { random, over }) => {
      await moveTo(random() < 0.5 ? HOUR_SECONDS : -HOUR_SECONDS);
      await moveTo(0);
      over();
    },
  ),
  // `sendsKeysAgain: false`: Weir remembers an idempotency key for 24 hours. After a jump of a day, it would store a repeated event a second time.
  // `forgetsVisits: true`: the state of the visits expires too.
  jump(
    'clock-day',
    'the clock jumps forward or back by one day, and later back',
    async ({ moveTo }, { random, over }) => {
      await moveTo(random() < 0.5 ? DAY_SECONDS : -DAY_SECONDS);
      await moveTo(0);
      over();
    },
    { sendsKeysAgain: false, forgetsVisits: true },
  ),
  jump(
    'clock-midnight',
    'the clock passes midnight UTC, jumps back before it, and passes it again',
    async ({ moveTo }, { over }) => {
      const midnight = toMidnight();
      await moveTo(midnight + 10);
      await moveTo(midnight - 60);
      await moveTo(midnight + 10);
      over();
    },
  ),
];

export const CLOCK_FAULTS: readonly Runnable[] = FAULTS.map(embedded);
