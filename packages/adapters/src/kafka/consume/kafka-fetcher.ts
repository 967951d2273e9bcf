import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@weir/runtime/logger';
import type { KafkaMessage } from 'kafkajs';
import { eventLogUnavailable, knownRefusal, rootCause } from '../kafka-errors.ts';
import type { KafkaLink, Leaders } from '../kafka-link.ts';
import { readEdges, readHighestEnd } from '../kafka-offsets.ts';
import { type BrokerPlace, withPartitionErrors } from '../kafkajs-private.ts';

/**
 * How long a broker waits for records before it sends an empty answer. The fetcher sends only one request at a time to each broker. So the
 * first request for a new source can be sent this much later.
 */
const MAX_WAIT_MS = 200;
const REQUEST_BYTES_MAX = 16 * 1024 * 1024;
const RETRY_PAUSE_MS = 100;
const OFFSET_OUT_OF_RANGE = 1;
/**
 * If a broker refuses to read a partition, the fetcher repeats the request after `RETRY_PAUSE_MS`. Of consecutive refusals, it reports only every
 * 50th to the consumer.
 */
const REFUSALS_REPORTED_EACH = 50;

export interface FetchSource {
  readonly topic: string;
  readonly partition: number;
  readonly fetchBytesMax: number;
  /** The next offset to fetch; `undefined` while the source needs no more records. */
  wanted(): number | undefined;
  /** Receives the records from `offset` on, or none, and the high watermark `end`. Records below `offset` can come first. */
  deliver(offset: number, messages: readonly KafkaMessage[], end: number): void;
  /** Called if the wanted offset is not in the partition: it is below `first` or above `end`. */
  outOfRange(offset: number, first: number, end: number): void;
  onError(error: unknown): void;
}

/** Fetches records, with one long poll per leader at a time. */
export interface KafkaFetcher {
  add(source: FetchSource): void;
  remove(source: FetchSource): void;
  /** Call it when a source needs records again. */
  wake(): void;
  close(): void;
}

interface FetchedPartition {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: string;
  readonly messages: readonly KafkaMessage[];
}

interface FetchResponse {
  readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[];
}

export function createKafkaFetcher(link: KafkaLink, logger: Logger): KafkaFetcher {
  const sources = new Set<FetchSource>();
  const busy = new Set<number>();
  const refusals = new WeakMap<FetchSource, number>();
  let pumping = false;
  /** Set by each call of `pump`. If `pump` is already running, it then does one more round, because another source may need records. */
  let askedAgain = false;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;

  function retryLater(): void {
    if (closed) return;
    retry ??= setTimeout(() => {
      retry = undefined;
      void pump();
    }, RETRY_PAUSE_MS);
  }

  function retryWithNewLeaders(): void {
    link.refreshLeaders();
    retryLater();
  }

  async function pump(): Promise<void> {
    askedAgain = true;
    if (pumping) return;
    pumping = true;
    try {
      while (askedAgain && !closed && sources.size > 0) {
        askedAgain = false;
        for (const [leader, wanted] of pendingByLeader(await link.leaders())) void poll(leader, wanted);
      }
    } catch (error) {
      logger.debug({ err: rootCause(error) }, 'no connection to Kafka for reading');
      retryLater();
    } finally {
      pumping = false;
    }
  }

  function pendingByLeader(leaderOf: Leaders): Map<BrokerPlace, Map<FetchSource, number>> {
    const found = new Map<BrokerPlace, Map<FetchSource, number>>();
    for (const source of sources) {
      const offset = source.wanted();
      if (offset === undefined) continue;
      const leader = leaderOf(source.topic, source.partition);
      if (leader === undefined) {
        retryWithNewLeaders();
      } else if (!busy.has(leader.nodeId)) {
        const wanted = found.get(leader) ?? new Map<FetchSource, number>();
        found.set(leader, wanted.set(source, offset));
      }
    }
    return found;
  }

  async function poll(leader: BrokerPlace, wanted: ReadonlyMap<FetchSource, number>): Promise<void> {
    busy.add(leader.nodeId);
    const list = [...wanted];
    try {
      for (const fetched of await fetchFrom(leader, list)) {
        const [source, offset] = list.find(([{ partition }]) => partition === fetched.partition) ?? [];
        if (source !== undefined && offset !== undefined && sources.has(source)) await accept(source, offset, fetched);
      }
    } catch (error) {
      if (!closed) for (const source of wanted.keys()) source.onError(error);
      link.refreshLeaders();
      // The leader stays in `busy` during the pause. Otherwise each `wake` would connect again to a broker that refuses connections.
      await pause(RETRY_PAUSE_MS, undefined, { ref: false });
    }
    busy.delete(leader.nodeId);
    if (retry === undefined) void pump();
  }

  /** Requests records of all these sources, which belong to one topic. */
  async function fetchFrom(
    leader: BrokerPlace,
    wanted: readonly (readonly [FetchSource, number])[],
  ): Promise<readonly FetchedPartition[]> {
    const topic = wanted[0]![0].topic;
    const partitions = wanted.map(([{ partition, fetchBytesMax }, offset]) => {
      return { partition, fetchOffset: String(offset), maxBytes: fetchBytesMax };
    });
    const response = (await link.runOn(leader, (broker) =>
      withPartitionErrors(broker).fetch({
        isolationLevel: 0,
        maxWaitTime: MAX_WAIT_MS,
        minBytes: 1,
        maxBytes: REQUEST_BYTES_MAX,
        topics: [{ topic, partitions }],
      }),
    )) as FetchResponse;
    return response.responses.flatMap((ofTopic) => ofTopic.partitions);
  }

  async function accept(source: FetchSource, offset: number, fetched: FetchedPartition): Promise<void> {
    const { errorCode, messages, highWatermark } = fetched;
    if (errorCode === OFFSET_OUT_OF_RANGE) return findRange(source, offset);
    if (errorCode !== 0) return refused(source, knownRefusal(errorCode)?.type ?? `error ${errorCode}`);
    refusals.delete(source);
    source.deliver(offset, messages, Number(highWatermark));
  }

  /** Requests new metadata, because the leader may have moved. Reports every 50th consecutive refusal. */
  function refused(source: FetchSource, why: string): void {
    retryWithNewLeaders();
    const count = (refusals.get(source) ?? 0) + 1;
    refusals.set(source, count);
    if (count % REFUSALS_REPORTED_EACH !== 0) return;
    source.onError(
      eventLogUnavailable(`the broker refuses to read ${source.topic}/${source.partition}`, new Error(why)),
    );
  }

  async function findRange(source: FetchSource, offset: number): Promise<void> {
    const { topic, partition } = source;
    const { first, end } = (await readEdges(link, topic, [partition])).get(partition)!;
    if (offset <= end) return source.outOfRange(offset, first, end);
    const highest = Math.max(end, await readHighestEnd(link, topic, partition));
    if (highest < offset) return source.outOfRange(offset, first, highest);
    refused(source, `its records end at ${end}, but another broker has the records up to ${offset}`);
  }

  return {
    add(source) {
      sources.add(source);
      void pump();
    },
    remove: (source) => void sources.delete(source),
    wake: () => void pump(),
    close() {
      closed = true;
      clearTimeout(retry);
      sources.clear();
    },
  };
}
