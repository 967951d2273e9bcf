import { Cluster } from 'ioredis';
import type { RedisClient } from './redis-connection.ts';

/**
 * Counts calls of `take` for several keys, in one atomic step. So concurrent gateways together never exceed a limit. Each call is counted
 * completely or not at all. ARGV: the seconds of a window, then three numbers for each key: the count of one call, the number of calls, and the
 * limit. Returns three numbers for each key: the count of its window before these calls, how many of the calls were counted, and the
 * milliseconds until the window ends.
 */
const COUNT_IF_THEY_FIT = `
local out = {}
for i, key in ipairs(KEYS) do
  local count, calls, limit = tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1])
  local taken = tonumber(redis.call('GET', key) or '0')
  local fit = math.max(0, math.min(calls, math.floor((limit - taken) / count)))
  if fit > 0 then redis.call('INCRBY', key, fit * count) end
  local ttl = redis.call('PTTL', key)
  if ttl < 0 then
    redis.call('EXPIRE', key, ARGV[1])
    ttl = 1000 * ARGV[1]
  end
  out[3 * i - 2], out[3 * i - 1], out[3 * i] = taken, fit, ttl
end
return out`;

/** The maximum number of keys of one script. More keys would delay the other commands of the server. */
const KEYS_MAX = 500;

type Counted = [consumed: number, leftMs: number];
/** The arguments that RateLimiterRedis passes to its script: key, count, seconds of a window, limit. */
type CountArguments = [key: string, count: string, seconds: string, limit: string, ...rest: string[]];

interface Caller {
  readonly resolve: (counted: Counted) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls with the same key, count and limit. */
interface Group {
  readonly key: string;
  readonly count: number;
  readonly limit: number;
  readonly callers: Caller[];
}

/** The part of a Redis client that RateLimiterRedis uses. */
export interface CountingClient {
  readonly status: string;
  /**
   * Resolves with the count of the window plus the count of this call, and with the milliseconds until the window ends. If the sum exceeds the
   * limit, the call was not counted.
   */
  rlflxIncr(given: CountArguments): Promise<Counted>;
}

/**
 * Creates a Redis client for RateLimiterRedis that counts all calls of one turn of the event loop with one command. One command per request took
 * a third of the gateway's JavaScript time. In a cluster, keys can be on different servers, so each key has its own command.
 */
export function createCountingClient(client: RedisClient, windowSeconds: number): CountingClient {
  client.defineCommand('weirCount', { lua: COUNT_IF_THEY_FIT });
  const { weirCount } = client as unknown as Record<'weirCount', (...given: (string | number)[]) => Promise<number[]>>;
  const keysMax = client instanceof Cluster ? 1 : KEYS_MAX;
  let groups = new Map<string, Group>();

  function flush(): void {
    const all = [...groups.values()];
    groups = new Map();
    for (let from = 0; from < all.length; from += keysMax) void send(all.slice(from, from + keysMax));
  }

  async function send(sent: readonly Group[]): Promise<void> {
    const keys = sent.map(({ key }) => key);
    const calls = sent.flatMap(({ count, callers, limit }) => [count, callers.length, limit]);
    try {
      const answer = await weirCount.call(client, keys.length, ...keys, windowSeconds, ...calls);
      sent.forEach((group, i) => {
        const [taken = 0, fit = 0, leftMs = 0] = answer.slice(3 * i, 3 * i + 3);
        group.callers.forEach(({ resolve }, nth) => {
          resolve([taken + (Math.min(nth, fit) + 1) * group.count, leftMs]);
        });
      });
    } catch (error) {
      for (const { callers } of sent) for (const { reject } of callers) reject(error);
    }
  }

  return {
    get status() {
      return client.status;
    },
    rlflxIncr([key, count, , limit]) {
      if (groups.size === 0) setImmediate(flush);
      const id = `${count} ${limit} ${key}`;
      let group = groups.get(id);
      if (group === undefined) {
        group = { key, count: Number(count), limit: Number(limit), callers: [] };
        groups.set(id, group);
      }
      const { callers } = group;
      return new Promise((resolve, reject) => callers.push({ resolve, reject }));
    },
  };
}
