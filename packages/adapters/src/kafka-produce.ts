import type { Broker } from 'kafkajs';
import type { AppendRun } from './kafka-append-run.ts';
import type { KafkaCompression } from './kafka-compression.ts';
import { encodeProduce } from './kafka-encode-produce.ts';
import { knownRefusal } from './kafka-errors.ts';
import { answeringPerPartition } from './kafka-link.ts';

/** In place of the offset of a batch that was refused before anything was written. */
const NO_OFFSET = '-1';

interface ProduceResponse {
  readonly topics: readonly {
    readonly topicName: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly errorCode: number;
      readonly baseOffset: string;
    }[];
  }[];
}

/**
 * Sends runs to the leader of their partitions as one request, one batch a partition, and settles what is decided. The leader waits
 * `replicationTimeoutMs` for its followers; what they have not taken then is of unknown outcome. Returns the runs that the leader is known to have refused for now. Rejects when there was no answer.
 */
export async function produce(
  broker: Broker,
  runs: readonly AppendRun[],
  compression: KafkaCompression,
  replicationTimeoutMs: number,
): Promise<readonly AppendRun[]> {
  const byPartition = new Map<string, AppendRun[]>();
  for (const run of runs) {
    const id = `${run.topic}/${run.partition}`;
    const batch = byPartition.get(id);
    if (batch === undefined) byPartition.set(id, [run]);
    else batch.push(run);
  }
  const payload = await encodeProduce([...byPartition.values()], replicationTimeoutMs, compression);
  const response = (await answeringPerPartition(broker, payload).produce({
    acks: -1,
    timeout: replicationTimeoutMs,
    topicData: [],
  })) as ProduceResponse;

  const again: AppendRun[] = [];
  for (const { topicName, partitions } of response.topics) {
    for (const { partition, errorCode, baseOffset } of partitions) {
      const batch = byPartition.get(`${topicName}/${partition}`) ?? [];
      if (errorCode === 0) settleStored(batch, Number(baseOffset));
      else again.push(...settleFailed(batch, errorCode, baseOffset !== NO_OFFSET));
    }
  }
  for (const run of runs)
    if (!run.settled && !again.includes(run)) run.settle(unknown('the broker did not name the partition'));
  return again;
}

function settleStored(batch: readonly AppendRun[], base: number): void {
  let next = base;
  for (const run of batch) {
    run.settle({ status: 'stored', base: next });
    next += run.records.length;
  }
}

/**
 * `written`: the leader had given the batch an offset before it failed. One that is deposed while it waits for its followers answers
 * NOT_LEADER_OR_FOLLOWER then too, and they may have the batch: sending it again would store it twice.
 */
function settleFailed(batch: readonly AppendRun[], code: number, written: boolean): readonly AppendRun[] {
  const refusal = written ? undefined : knownRefusal(code);
  if (refusal?.again) return batch;
  for (const run of batch) {
    run.settle(refusal === undefined ? unknown(`broker error ${code}`) : { status: 'refused', reason: refusal.type });
  }
  return [];
}

const unknown = (reason: string) => ({ status: 'unknown', reason }) as const;
