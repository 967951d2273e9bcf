import type { ConsumeOptions, Subscription } from '@weir/ports/event-log';
import { type CommitStore, type PartitionLoop, startPartitionLoop } from './lmdb-partition-loop.ts';
import type { ReadableLog } from './lmdb-partition-reads.ts';

export interface ConsumerGroup {
  join(options: ConsumeOptions): Subscription;
  readonly size: number;
}

interface Member {
  readonly options: ConsumeOptions;
}

interface PartitionSlot {
  readonly log: ReadableLog;
  target: Member | undefined;
  owner: Member | undefined;
  loop: PartitionLoop | undefined;
  /** Resolves when all reassignments of this partition are done. They run one after the other. Each one uses the latest `target`. */
  reassigned: Promise<void>;
}

/** Creates the group for one topic. With n members, partition p is assigned to the member with the number p modulo n. */
export function createConsumerGroup(
  logs: readonly ReadableLog[],
  commitsOf: (partition: number) => CommitStore,
): ConsumerGroup {
  const members: Member[] = [];
  const slots = logs.map((log): PartitionSlot => {
    return { log, target: undefined, owner: undefined, loop: undefined, reassigned: Promise.resolve() };
  });

  function rebalance(): void {
    for (const slot of slots) {
      slot.target = members.length === 0 ? undefined : members[slot.log.partition % members.length];
      slot.reassigned = slot.reassigned.then(() => reassign(slot));
    }
  }

  /** Closes the consumer of the old owner, then opens the consumer of the new owner. */
  async function reassign(slot: PartitionSlot): Promise<void> {
    while (slot.owner !== slot.target) {
      if (slot.loop !== undefined) {
        slot.loop.stop();
        await slot.loop.done;
        slot.loop = undefined;
        slot.owner = undefined;
        continue;
      }
      slot.owner = slot.target;
      if (slot.owner !== undefined) {
        slot.loop = startPartitionLoop(slot.log, commitsOf(slot.log.partition), slot.owner.options);
      }
    }
  }

  return {
    join(options) {
      const member: Member = { options };
      members.push(member);
      rebalance();
      return {
        joined: () => members.includes(member),
        async close() {
          const at = members.indexOf(member);
          if (at >= 0) members.splice(at, 1);
          rebalance();
          await Promise.all(slots.filter(({ owner }) => owner === member).map(({ reassigned }) => reassigned));
        },
      };
    },
    get size() {
      return members.length;
    },
  };
}
