import { type KafkaLink, runAgain } from './kafka-link.ts';

/** A second, and what the attempts take. */
const ATTEMPTS = 10;

export interface Edges {
  /** The lowest offset that is still there. */
  readonly first: number;
  /** One past the highest. */
  readonly end: number;
}

/** Both ends of partitions. Rejects with kafkajs's error. */
export async function readEdges(
  link: KafkaLink,
  topic: string,
  partitions: readonly number[],
  attempts = ATTEMPTS,
): Promise<ReadonlyMap<number, Edges>> {
  const asked = partitions.map((partition) => ({ partition }));
  const [first, end] = await runAgain(link, attempts, (cluster) =>
    Promise.all([
      cluster.fetchTopicsOffset([{ topic, partitions: asked, fromBeginning: true }]),
      cluster.fetchTopicsOffset([{ topic, partitions: asked, fromBeginning: false }]),
    ]),
  );
  const ends = byPartition(end);
  return new Map(
    [...byPartition(first)].map(([partition, offset]) => [
      partition,
      { first: offset, end: ends.get(partition) ?? offset },
    ]),
  );
}

/** The lowest offset appended at or after `timeMs`, per partition; `undefined` where there is none. */
export async function readOffsetsAtTime(
  link: KafkaLink,
  topic: string,
  partitions: readonly number[],
  timeMs: number,
): Promise<ReadonlyMap<number, number | undefined>> {
  const asked = partitions.map((partition) => ({ partition }));
  const found = await runAgain(link, ATTEMPTS, (cluster) =>
    cluster.fetchTopicsOffset([{ topic, partitions: asked, fromTimestamp: timeMs }]),
  );
  return new Map([...byPartition(found)].map(([partition, offset]) => [partition, offset < 0 ? undefined : offset]));
}

function byPartition(
  topics: readonly { readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[],
): ReadonlyMap<number, number> {
  return new Map(
    topics.flatMap(({ partitions }) => partitions.map(({ partition, offset }) => [partition, Number(offset)])),
  );
}
