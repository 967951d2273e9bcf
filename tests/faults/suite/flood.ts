import { keptConnection, sendHttp } from '@weir/testkit/http-client';

export interface Flood {
  /** Whether a request has been answered with this status. */
  hadStatus(status: number): boolean;
  /** Ends the flood. Resolves with the number of accepted records when each connection has its last answer. */
  stop(): Promise<number>;
}

export interface FloodOptions {
  readonly url: string;
  readonly connections: number;
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The names of all events of a flood begin with this text. */
export const FLOOD_NAME = 'flood-';
const BATCH_EVENTS = 500;
const TIMEOUT_MS = 30_000;
/** The pause after a refused request. It is shorter than `Retry-After`, and long enough that the process of the tests has time for other clients. */
const REFUSED_PAUSE_MS = 5;

/** A body for POST /api/v1/events/batch with the maximum number of events. */
export const FLOOD_BATCH = JSON.stringify({
  events: Array.from({ length: BATCH_EVENTS }, (_, n) => ({ name: `${FLOOD_NAME}${n}` })),
});

/** Repeats the same request on several connections. Each connection sends its next request after the answer to the last one. */
export function startFlood({ url, connections, path, body, headers }: FloodOptions): Flood {
  const statuses = new Set<number>();
  let stopped = false;
  let accepted = 0;

  const connection = async (): Promise<void> => {
    const agent = keptConnection();
    while (!stopped) {
      const answer = await sendHttp(url, { path, body, headers, agent, timeoutMs: TIMEOUT_MS }).catch(() => undefined);
      if (answer === undefined) continue;
      const { status, text } = answer;
      statuses.add(status);
      if (status < 300) accepted += Number(/"accepted":(\d+)/.exec(text)?.[1] ?? 1);
      else await new Promise((resolve) => setTimeout(resolve, REFUSED_PAUSE_MS));
    }
    agent.destroy();
  };
  const running = Promise.all(Array.from({ length: connections }, connection));
  return {
    hadStatus: (status) => statuses.has(status),
    async stop() {
      stopped = true;
      await running;
      return accepted;
    },
  };
}
