import { DependencyError } from '@weir/domain/errors';
import { type KafkaLink, leaderOf, retried } from './kafka-link.ts';
import { type AdminBroker, type BrokerPlace, brokerPlaces } from './kafkajs-private.ts';

/** Number of attempts, 100 ms apart. */
const ATTEMPTS = 10;
/** In a ListOffsets request, these numbers replace the time: -2 requests the first offset, -1 the end offset. */
const FIRST = -2;
const END = -1;

export interface Edges {
  /** The lowest offset that retention has not removed. */
  readonly first: number;
  /** One past the highest offset that consumers can read. */
  readonly end: number;
}

/** Reads the first and the end offset of partitions. Rejects with kafkajs's error, or if a partition has no leader. */
export function readEdges(
  link: KafkaLink,
  topic: string,
  partitions: readonly number[],
  attempts = ATTEMPTS,
): Promise<ReadonlyMap<number, Edges>> {
  return retried(attempts, async (isRepeated) =>
    edgesOf(link, topic, await leadersOf(link, topic, partitions, isRepeated)),
  );
}

/**
 * Does the same as `readEdges`. If consumers cannot read all records of a partition yet, because an in-sync replica lacks some, the result of the
 * partition also has `written`: one past the highest offset that the leader has written. If a partition ends before `atLeast`, its `end` is that of
 * `readHighestEnd`.
 */
export async function readAllEdges(
  link: KafkaLink,
  topic: string,
  partitions: readonly number[],
  atLeast: number,
): Promise<ReadonlyMap<number, Edges & { readonly written?: number }>> {
  const all = await readLeaderEdges(link, topic, partitions);
  for (const [partition, edges] of all) {
    if (edges.end >= atLeast) continue;
    all.set(partition, { ...edges, end: Math.max(edges.end, await readHighestEnd(link, topic, partition)) });
  }
  return all;
}

/**
 * Asks every broker for the end offset of a partition. Resolves with the highest one, or with -1 if no broker returned one. Call it before records
 * count as lost. A broker that cannot reach the controller continues to answer as the leader of its former partitions, and lacks the records that
 * the present leader has. Ignores brokers that do not answer, or that are not the leader.
 */
export async function readHighestEnd(link: KafkaLink, topic: string, partition: number): Promise<number> {
  const places = await link.run(async (cluster) => brokerPlaces(cluster));
  const asked = places.map(async (place) => {
    const found = await listOffsets(link, topic, new Map([[place, [partition]]]), END);
    return found.get(partition)!;
  });
  const ends = (await Promise.allSettled(asked)).map((one) => (one.status === 'fulfilled' ? one.value : -1));
  return Math.max(-1, ...ends);
}

async function readLeaderEdges(
  link: KafkaLink,
  topic: string,
  partitions: readonly number[],
): Promise<Map<number, Edges & { readonly written?: number }>> {
  return retried(ATTEMPTS, async (isRepeated) => {
    const byLeader = await leadersOf(link, topic, partitions, isRepeated);
    const [edges, ends] = await Promise.all([
      edgesOf(link, topic, byLeader),
      listOffsets(link, topic, byLeader, END, 'replica'),
    ]);
    return new Map(
      [...edges].map(([partition, found]) => {
        const written = ends.get(partition)!;
        return [partition, written > found.end ? { ...found, written } : found];
      }),
    );
  });
}

async function edgesOf(
  link: KafkaLink,
  topic: string,
  byLeader: ReadonlyMap<BrokerPlace, readonly number[]>,
): Promise<ReadonlyMap<number, Edges>> {
  const [first, end] = await Promise.all([
    listOffsets(link, topic, byLeader, FIRST),
    listOffsets(link, topic, byLeader, END),
  ]);
  return new Map([...first].map(([partition, offset]) => [partition, { first: offset, end: end.get(partition)! }]));
}

/**
 * Resolves with true if a partition of the topic has ever had a record, also if retention has removed this record. Closes the connections of
 * `link`. Rejects with `event_log_unavailable` if some partitions have no leader and the other ones have never had a record. Rejects with
 * kafkajs's error if the brokers do not answer.
 */
export async function hasHadRecords(link: KafkaLink, topic: string): Promise<boolean> {
  try {
    const all = await link.run(async (cluster) => cluster.findTopicPartitionMetadata(topic));
    const led = all.filter(({ leader }) => leader >= 0).map(({ partitionId }) => partitionId);
    if ([...(await readEdges(link, topic, led)).values()].some(({ end }) => end > 0)) return true;
    if (led.length === all.length) return false;
    throw new DependencyError(
      'event_log_unavailable',
      `${all.length - led.length} partitions of ${topic} have no leader, so it is unknown whether the topic has records: start their brokers`,
    );
  } finally {
    await link.close();
  }
}

/**
 * Resolves, for each partition, with the offset of the first record that was appended at or after `timeMs`; `undefined` if there is no such
 * record.
 */
export async function readOffsetsAtTime(
  link: KafkaLink,
  topic: string,
  partitions: readonly number[],
  timeMs: number,
): Promise<ReadonlyMap<number, number | undefined>> {
  const found = await retried(ATTEMPTS, async (isRepeated) =>
    listOffsets(link, topic, await leadersOf(link, topic, partitions, isRepeated), timeMs),
  );
  return new Map([...found].map(([partition, offset]) => [partition, offset < 0 ? undefined : offset]));
}

/** Removes the records of partition p below `offsets[p]`, for each partition. Rejects with kafkajs's error, or if a partition has no leader. */
export async function removeRecordsBefore(link: KafkaLink, topic: string, offsets: readonly number[]): Promise<void> {
  const partitions = [...offsets.keys()].filter((partition) => offsets[partition] !== 0);
  await retried(ATTEMPTS, async (isRepeated) => {
    for (const [leader, own] of await leadersOf(link, topic, partitions, isRepeated)) {
      const asked = own.map((partition) => ({ partition, offset: String(offsets[partition]) }));
      await link.runOn(leader, (broker) =>
        (broker as AdminBroker).deleteRecords({ topics: [{ topic, partitions: asked }] }).catch((error: unknown) => {
          throw errorOfPartition(error);
        }),
      );
    }
  });
}

/** The partitions by leader. Rejects if one of them has no leader. */
async function leadersOf(
  link: KafkaLink,
  topic: string,
  partitions: readonly number[],
  refresh: boolean,
): Promise<ReadonlyMap<BrokerPlace, readonly number[]>> {
  const leaders = await link.run(async (cluster) => {
    if (refresh) await cluster.refreshMetadata();
    return partitions.map((partition) => leaderOf(cluster, topic, partition));
  });
  const found = new Map<BrokerPlace, number[]>();
  leaders.forEach((leader, index) => {
    const partition = partitions[index]!;
    if (leader === undefined) throw new Error(`${topic}/${partition} has no leader`);
    const own = found.get(leader);
    if (own === undefined) found.set(leader, [partition]);
    else own.push(partition);
  });
  return found;
}

/**
 * Returns one offset for each partition. `time` is `FIRST`, `END` or Unix milliseconds. The offset is -1 if no record was appended at or after this
 * time. Rejects if an answer does not contain a partition: an erasure must not treat such a partition as empty. `as` matters only for `END`. A
 * consumer gets the end of the records that all in-sync replicas have, and a replica the end of all records that the leader has. The request of a
 * replica must contain a node ID. This function sends the node ID of the leader itself.
 */
async function listOffsets(
  link: KafkaLink,
  topic: string,
  byLeader: ReadonlyMap<BrokerPlace, readonly number[]>,
  time: number,
  as: 'consumer' | 'replica' = 'consumer',
): Promise<ReadonlyMap<number, number>> {
  const requests = [...byLeader].map(async ([leader, partitions]) => {
    const asked = partitions.map((partition) => ({ partition, timestamp: String(time) }));
    const request = {
      topics: [{ topic, partitions: asked }],
      ...(as === 'replica' ? { replicaId: leader.nodeId } : {}),
    };
    const { responses } = await link.runOn(leader, (broker) => (broker as AdminBroker).listOffsets(request));
    const answered = responses.flatMap((response) => response.partitions);
    return partitions.map((partition) => {
      const found = answered.find((one) => one.partition === partition);
      if (found === undefined) throw new Error(`the answer of the broker does not contain ${topic}/${partition}`);
      return [partition, Number(found.offset)] as const;
    });
  });
  return new Map((await Promise.all(requests)).flat());
}

/** Returns the error of one partition, which contains the reason. kafkajs's own error says only that records were not deleted. */
function errorOfPartition(error: unknown): unknown {
  const { partitions = [] } = error as { readonly partitions?: readonly { readonly error?: unknown }[] };
  return partitions.find((partition) => partition.error != null)?.error ?? error;
}
