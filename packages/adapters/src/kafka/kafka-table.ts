import { DependencyError } from '@weir/domain/errors';
import type { LogTable } from '@weir/ports/event-log';
import type { Logger } from '@weir/runtime/logger';
import { createKafkaFetcher, type FetchSource } from './consume/kafka-fetcher.ts';
import { eventLogUnavailable } from './kafka-errors.ts';
import type { KafkaLink } from './kafka-link.ts';
import { readEdges } from './kafka-offsets.ts';
import type { KafkaAppender } from './produce/kafka-appender.ts';

const FETCH_BYTES_MAX = 4 * 1024 * 1024;
const OPEN_DEADLINE_MS = 15_000;
const APPLIED_DEADLINE_MS = 5000;
/** Keys with this prefix are for the event log itself, such as its ID (kafka-log-id.ts). `entries` of a table does not return them. */
export const RESERVED_KEY_PREFIX = '\u0000';

export interface KafkaTable extends LogTable {
  /** The entries whose keys have the reserved prefix, each with the offset of the record that set it. */
  reserved(): ReadonlyMap<string, { readonly value: string; readonly offset: number }>;
}

export interface KafkaTableDeps {
  /** Connections that only this table uses. Closing the table closes them. */
  readonly link: KafkaLink;
  /** Connections for offset queries, which must not wait for the long poll of the fetcher. */
  readonly queryLink: KafkaLink;
  readonly appender: KafkaAppender;
  /** The full name in Kafka of a compacted topic with one partition. */
  readonly topic: string;
  readonly logger: Logger;
}

/** Opens a table. Each process reads the whole topic, without a consumer group. */
export async function openKafkaTable({
  link,
  queryLink,
  appender,
  topic,
  logger,
}: KafkaTableDeps): Promise<KafkaTable> {
  const entries = new Map<string, string>();
  const reserved = new Map<string, { value: string; offset: number }>();
  const listeners: ((key: string, value: string | undefined) => void)[] = [];
  let waiting: { readonly until: number; readonly done: () => void }[] = [];
  let position = 0;
  /** The time of the last read, from `performance.now()`, because the system clock can be set back. */
  let readAt = performance.now();
  const fetcher = createKafkaFetcher(link, logger);

  function apply(key: string, value: string | undefined, offset: number): void {
    if (key.startsWith(RESERVED_KEY_PREFIX)) {
      if (value === undefined) reserved.delete(key);
      else reserved.set(key, { value, offset });
      return;
    }
    entries.delete(key);
    if (value !== undefined) entries.set(key, value);
    for (const listener of listeners) listener(key, value);
  }

  const source: FetchSource = {
    topic,
    partition: 0,
    fetchBytesMax: FETCH_BYTES_MAX,
    wanted: () => position,
    deliver(_offset, messages, end) {
      readAt = performance.now();
      for (const { key, value, offset } of messages) {
        if (Number(offset) < position) continue;
        position = Number(offset) + 1;
        if (key !== null) apply(key.toString(), value?.toString(), Number(offset));
      }
      // An empty response means that the end is reached: compaction can have removed the last records before the end.
      if (messages.length === 0) position = Math.max(position, end);
      const reached = waiting.filter(({ until }) => until <= position);
      waiting = waiting.filter(({ until }) => until > position);
      for (const { done } of reached) done();
    },
    outOfRange(_offset, first) {
      position = first;
    },
    onError: (error) =>
      logger.warn(
        { topic, reason: String(error) },
        'the table cannot be read now: it keeps the values of the last read',
      ),
  };

  /** Resolves when this process has applied every record below `offset`. */
  function applied(offset: number, withinMs: number): Promise<void> {
    if (position >= offset) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new DependencyError('event_log_unavailable', `${topic} was not read up to ${offset} in ${withinMs} ms`));
      }, withinMs);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push({ until: offset, done });
    });
  }

  async function close(): Promise<void> {
    fetcher.close();
    await link.close();
  }

  try {
    const edges = (await readEdges(link, topic, [0])).get(0)!;
    position = edges.first;
    fetcher.add(source);
    await applied(edges.end, OPEN_DEADLINE_MS);
  } catch (error) {
    await close();
    throw eventLogUnavailable(`cannot read the table ${topic}`, error);
  }

  return {
    entries: () => entries,
    reserved: () => reserved,
    async put(key, value) {
      const record = { key: Buffer.from(key), value: value === undefined ? null : Buffer.from(value), headers: {} };
      const outcome = await appender.append(topic, 0, [record]);
      if (outcome.status !== 'stored') {
        throw new DependencyError('event_log_unavailable', `${topic}: ${outcome.status}: ${outcome.reason}`);
      }
      await applied(outcome.base + 1, APPLIED_DEADLINE_MS);
    },
    onChange: (listener) => void listeners.push(listener),
    async catchUp() {
      try {
        await applied((await readEdges(queryLink, topic, [0])).get(0)!.end, APPLIED_DEADLINE_MS);
      } catch (error) {
        throw eventLogUnavailable(`cannot read the table ${topic} to its end`, error);
      }
    },
    unreadMs: () => performance.now() - readAt,
    close,
  };
}
