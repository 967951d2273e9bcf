import type { Broker } from 'kafkajs';
import type { KafkaCompression } from '../kafka-compression.ts';
import { knownRefusal } from '../kafka-errors.ts';
import { withPartitionErrors } from '../kafkajs-private.ts';
import type { AppendRun } from './append-run.ts';
import { encodeProduce } from './encode-produce.ts';

/** The base offset that a broker returns for a batch that it refused before it wrote anything. */
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
 * Sends runs (each has the records of one append call for one partition) to the leader of their partitions in one request, with one batch per
 * partition. If the followers have not acknowledged within `replicationTimeoutMs`, the outcome is `unknown`. Returns the runs that the leader
 * refused and that may be sent again. Settles all other runs. If there is no answer, rejects without settling a run.
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
  const response = (await withPartitionErrors(broker, payload).produce({
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
    if (!run.settled && !again.includes(run))
      run.settle(unknown('the answer of the broker does not contain the partition'));
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
 * Settles the runs of a batch that failed, or returns them if they may be sent again. `written` is true if the leader had
 * assigned an offset to the batch before it failed. Such a batch must not be sent again, because the followers may have stored it. This can
 * happen with every error code: a leader that is replaced while it waits for its followers answers NOT_LEADER_OR_FOLLOWER.
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
