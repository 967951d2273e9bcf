import { setTimeout as pause } from 'node:timers/promises';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import type { Fault } from '../suite/fault.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

const STARTING_MS = 2_000;
const STOPPED_MS = { short: [2_000, 4_000], long: [5_000, 120_000] } as const;
const CLICKHOUSE_STOPPED_MS = [5_000, 20_000] as const;

const FAULTS: readonly Fault<Embedded>[] = [
  {
    name: 'kill-all',
    about: '`kill -9` of the whole process group at a random moment',
    open: () => openEmbedded(),
    async strike({ weir }, { over }) {
      await weir.kill9();
      over();
      await weir.restart();
    },
  },
  {
    name: 'kill-main',
    about: '`kill -9` of the main process only; its ClickHouse must end by itself',
    open: () => openEmbedded(),
    async strike({ weir }, { over }) {
      weir.signal('SIGKILL');
      await weir.ended();
      over();
      await weir.restart();
    },
  },
  {
    name: 'kill-starting',
    about: '`kill -9`, and again at a random moment of the next start',
    open: () => openEmbedded(),
    async strike({ weir }, { random, over }) {
      await weir.kill9();
      const interrupted = weir.restart().catch(() => undefined);
      await pause(random() * STARTING_MS);
      await weir.kill9();
      await interrupted;
      over();
      await weir.restart();
    },
  },
  {
    name: 'kill-clickhouse',
    about: '`kill -9` of the ClickHouse process at a random moment',
    open: () => openEmbedded(),
    strike: async ({ weir }) => weir.killClickhouse(),
  },
  {
    name: 'terminate',
    about: 'SIGTERM at a random moment, and a new start',
    open: () => openEmbedded(),
    async strike({ weir }, { over }) {
      const code = await weir.terminate();
      if (code !== 0) throw new Error(`Weir ended with ${code} on SIGTERM`);
      over();
      await weir.restart();
    },
  },
  {
    name: 'stop',
    about: 'SIGSTOP of the main process for 5 to 120 s, then SIGCONT',
    open: () => openEmbedded(),
    async strike({ weir }, { random, short }) {
      const [least, most] = short ? STOPPED_MS.short : STOPPED_MS.long;
      weir.signal('SIGSTOP');
      await pause(least + random() * (most - least));
      weir.signal('SIGCONT');
    },
  },
  {
    name: 'stop-clickhouse',
    about: 'SIGSTOP of the ClickHouse process for 5 to 20 s, then SIGCONT',
    open: () => openEmbedded(),
    async strike({ weir }, { random, short }) {
      const [least, most] = short ? STOPPED_MS.short : CLICKHOUSE_STOPPED_MS;
      const pid = weir.clickhousePid();
      process.kill(pid, 'SIGSTOP');
      await pause(least + random() * (most - least));
      process.kill(pid, 'SIGCONT');
    },
  },
];

export const PROCESS_FAULTS: readonly Runnable[] = FAULTS.map((fault) => embedded({ ...fault, shares: 'plain' }));
