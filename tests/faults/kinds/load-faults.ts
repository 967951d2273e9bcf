import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { openSocket } from '@weir/testkit/http-client';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import type { Fault } from '../suite/fault.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

const BURST_EVENTS = 1_000;
const BURST_AT_ONCE = 64;
const IDLE_CONNECTIONS = 10_000;
/** The file descriptors that the test and Weir's main process each need: one for each idle connection, and some more. */
const FILES_MIN = IDLE_CONNECTIONS + 2_000;
const OPENED_AT_ONCE = 500;
const SLOW_WRITERS = 200;
const SLOW_MS = 3_000;
const OTHERS_WITHIN_MS = 120_000;
const SLOW_PIECE_MS = 100;
const SLOW_READERS = 200;
/** A slow reader sends this many requests and does not read the answers, which are much larger than the buffers of a connection. */
const UNREAD_REQUESTS = 100;
const UNREAD_HEAD = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
const MEMORY_MAX_BYTES = 1_500_000_000;

const SLOW_HEAD =
  'POST /api/collect HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{"site_id":"';

/** Returns one sentence if the peak memory of Weir's main process was above the limit. */
async function memoryFindings({ weir }: Embedded): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [];
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${weir.pid()}/status`, 'utf8')) ?? [];
  const bytes = Number(kibibytes) * 1024;
  return bytes > MEMORY_MAX_BYTES
    ? [`the main process used ${bytes} bytes of memory, more than ${MEMORY_MAX_BYTES}`]
    : [];
}

function filesProblem(): string | undefined {
  const files = Number(
    execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim().replace('unlimited', '1e9'),
  );
  return files >= FILES_MIN ? undefined : `a process may open ${files} files, and ${FILES_MIN} are needed`;
}

async function openMany(url: string, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const more = Array.from({ length: Math.min(OPENED_AT_ONCE, count - sockets.length) }, () => openSocket(url));
    for (const socket of more) socket.on('error', () => undefined);
    await Promise.all(more.map((socket) => once(socket, 'connect')));
    sockets.push(...more);
  }
  return sockets;
}

const FAULTS: readonly Fault<Embedded>[] = [
  {
    name: 'hot-visitor',
    about: `one visitor sends ${BURST_EVENTS.toLocaleString('en-US')} more events, ${BURST_AT_ONCE} at once`,
    open: () => openEmbedded(),
    shares: 'plain',
    strike: (_, { load, nth }) => load.burst(`hot-${nth}`, BURST_EVENTS, BURST_AT_ONCE),
    findings: memoryFindings,
  },
  {
    name: 'idle-connections',
    about: `${IDLE_CONNECTIONS.toLocaleString('en-US')} more connections are open and send nothing`,
    problem: filesProblem,
    open: () => openEmbedded(),
    shares: 'plain',
    async strike({ url }, { load }) {
      const sockets = await openMany(url, IDLE_CONNECTIONS);
      const before = load.acknowledged();
      await eventually('others to be answered', () => load.acknowledged() > before + 100);
      for (const socket of sockets) socket.destroy();
    },
    findings: memoryFindings,
  },
  {
    name: 'slow-bodies',
    about: `${SLOW_WRITERS} clients send bodies of 60 KB, one byte each ${SLOW_PIECE_MS} ms, and then close`,
    open: () => openEmbedded(),
    shares: 'plain',
    async strike({ url }, { load }) {
      const sockets = await openMany(url, SLOW_WRITERS);
      for (const socket of sockets) socket.write(SLOW_HEAD);
      const before = load.acknowledged();
      for (let sent = 0; sent < SLOW_MS; sent += SLOW_PIECE_MS) {
        await pause(SLOW_PIECE_MS);
        for (const socket of sockets) if (socket.writable) socket.write('x');
      }
      await eventually('others to be answered', () => load.acknowledged() > before + 100);
      for (const socket of sockets) socket.destroy();
    },
    findings: memoryFindings,
  },
  {
    name: 'slow-readers',
    about: `${SLOW_READERS} clients send ${UNREAD_REQUESTS} requests for a large document each, read no answer for ${SLOW_MS / 1000} s, and then close`,
    open: () => openEmbedded(),
    shares: 'plain',
    async strike({ url }, { load }) {
      const sockets = await openMany(url, SLOW_READERS);
      for (const socket of sockets) {
        socket.pause();
        socket.write(UNREAD_HEAD.repeat(UNREAD_REQUESTS));
      }
      const before = load.acknowledged();
      await pause(SLOW_MS); // the answers stay unread for this time, so the pause is part of the test
      await eventually('others to be answered', () => load.acknowledged() > before + 100, OTHERS_WITHIN_MS);
      for (const socket of sockets) socket.destroy();
    },
    findings: memoryFindings,
  },
];

export const LOAD_FAULTS: readonly Runnable[] = FAULTS.map(embedded);
