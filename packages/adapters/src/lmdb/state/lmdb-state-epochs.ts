import { randomUUID } from 'node:crypto';
import type { RawPartition, StateEpoch } from '@weir/ports/state-store';

/**
 * Epochs of the state store (`readEpoch` in ports/state-store.ts): a new epoch begins when content may have been lost. Only one process opens
 * the embedded store. Content can be lost only while the store is closed, so each opening begins a new epoch.
 */
export interface StateEpochs {
  read(logId: string, partitions: number): StateEpoch;
  lasts(epoch: string): boolean;
  checkIn(epoch: string, partition: RawPartition): boolean;
  end(epoch: string): void;
}

export function createStateEpochs(): StateEpochs {
  let current = randomUUID();
  const checkedIn = new Map<string, Set<number>>();

  return {
    read(logId, partitions) {
      const found = [...(checkedIn.get(logId) ?? [])].filter((partition) => partition < partitions);
      return { id: current, checkedIn: new Set(found) };
    },
    lasts: (epoch) => epoch === current,
    checkIn(epoch, { logId, partition }) {
      if (epoch !== current) return false;
      const found = checkedIn.get(logId) ?? new Set();
      checkedIn.set(logId, found.add(partition));
      return true;
    },
    end(epoch) {
      if (epoch !== current) return;
      current = randomUUID();
      checkedIn.clear();
    },
  };
}
