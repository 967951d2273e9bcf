import type { StateStore } from '@weir/ports/state-store';
import { type FaultPoint, withFaults } from './fault-points.ts';

/**
 * Wraps the real store. Faults can happen in the calls of the gateway about claims (docs/glossary.md), and in all calls of the enricher except
 * `readEpoch`: a timer also calls it, so the number of its calls differs from run to run.
 */
export function createFaultyStateStore(store: StateStore, point: FaultPoint): StateStore {
  return {
    ...store,
    claimKeys: (keys) => withFaults(point, 'claimKeys', () => store.claimKeys(keys)),
    confirmKeys: (keys) => withFaults(point, 'confirmKeys', () => store.confirmKeys(keys)),
    checkIn: (epoch, partition) => withFaults(point, 'checkIn', () => store.checkIn(epoch, partition)),
    endEpoch: (epoch) => withFaults(point, 'endEpoch', () => store.endEpoch(epoch)),
    insertFirstSeen: (epoch, keys, windowMs) =>
      withFaults(point, 'insertFirstSeen', () => store.insertFirstSeen(epoch, keys, windowMs)),
    overwriteFirstSeen: (epoch, keys, windowMs) =>
      withFaults(point, 'overwriteFirstSeen', () => store.overwriteFirstSeen(epoch, keys, windowMs)),
    readState: (epoch, partition, keys) =>
      withFaults(point, 'readState', () => store.readState(epoch, partition, keys)),
    writeState: (epoch, partition, run, changes) =>
      withFaults(point, 'writeState', () => store.writeState(epoch, partition, run, changes)),
  };
}
