import { keptConnection, sendHttp } from '@weir/testkit/http-client';

export interface Flood {
  /** Ends the flood. Resolves when each connection has its last answer. */
  stop(): Promise<FloodResult>;
}

export interface FloodResult {
  /** The number of requests that were sent. */
  readonly sent: number;
  /** The number of requests by their status. Requests without an answer are not in it. */
  readonly statuses: ReadonlyMap<number, number>;
  /** The number of records that were accepted. */
  readonly accepted: number;
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

/** The body of POST /api/v1/events/batch with as many events as it may have. */
export const FLOOD_BATCH = JSON.stringify({
  events: Array.from({ length: BATCH_EVENTS }, (_, n) => ({ name: `${FLOOD_NAME}${n}` })),
});

/** Sends the same request again and again through several connections. A connection sends the next request when it has the answer. */
export function startFlood({ url, connections, path, body, headers }: FloodOptions): Flood {
  const statuses = new Map<number, number>();
  let stopped = false;
  let sent = 0;
  let accepted = 0;

  const connection = async (): Promise<void> => {
    const agent = keptConnection();
    while (!stopped) {
      sent += 1;
      const answer = await sendHttp(url, { path, body, headers, agent, timeoutMs: TIMEOUT_MS }).catch(() => undefined);
      if (answer === undefined) continue;
      const { status, text } = answer;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status < 300) accepted += Number(/"accepted":(\d+)/.exec(text)?.[1] ?? 1);
      else await new Promise((resolve) => setTimeout(resolve, REFUSED_PAUSE_MS));
    }
    agent.destroy();
  };
  const running = Promise.all(Array.from({ length: connections }, connection));
  return {
    async stop() {
      stopped = true;
      await running;
      return { sent, statuses, accepted };
    },
  };
}
