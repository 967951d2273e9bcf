import type { ConsumeOptions, Subscription } from '@weir/ports/event-log';
import type { PartitionLog } from './lmdb-partition-log.ts';
import { type CommitStore, type PartitionLoop, startPartitionLoop } from './lmdb-partition-loop.ts';

export interface ConsumerGroup {
  join(options: ConsumeOptions): Subscription;
  readonly size: number;
}

interface Member {
  readonly options: ConsumeOptions;
}

interface Slot {
  readonly log: PartitionLog;
  target: Member | undefined;
  owner: Member | undefined;
  loop: PartitionLoop | undefined;
  /** The moves so far, one after the other: each goes on to whatever the target is by then. */
  moved: Promise<void>;
}

/** The members of a group on one topic share its partitions out: member i of n has each n-th one, from the i-th on. */
export function createConsumerGroup(
  logs: readonly PartitionLog[],
  commitsOf: (partition: number) => CommitStore,
): ConsumerGroup {
  const members: Member[] = [];
  const slots = logs.map((log): Slot => {
    return { log, target: undefined, owner: undefined, loop: undefined, moved: Promise.resolve() };
  });

  function shareOut(): void {
    for (const slot of slots) {
      slot.target = members.length === 0 ? undefined : members[slot.log.partition % members.length];
      slot.moved = slot.moved.then(() => move(slot));
    }
  }

  /** The old owner's consumer has closed before the new one's is opened. */
  async function move(slot: Slot): Promise<void> {
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
      shareOut();
      return {
        joined: () => members.includes(member),
        async close() {
          const at = members.indexOf(member);
          if (at >= 0) members.splice(at, 1);
          shareOut();
          await Promise.all(slots.filter(({ owner }) => owner === member).map(({ moved }) => moved));
        },
      };
    },
    get size() {
      return members.length;
    },
  };
}
