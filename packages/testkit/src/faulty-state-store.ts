import type { StateStore } from '@weir/ports/state-store';
import { type FaultPoint, passing } from './fault-points.ts';

/** The real store, with faults at the points of the enricher's calls. */
export function createFaultyStateStore(store: StateStore, point: FaultPoint): StateStore {
  return {
    ...store,
    holdFirst: (holders, windowMs) => passing(point, 'holdFirst', () => store.holdFirst(holders, windowMs)),
    dropHolders: (holders) => passing(point, 'dropHolders', () => store.dropHolders(holders)),
    readFold: (partition, keys) => passing(point, 'readFold', () => store.readFold(partition, keys)),
    writeFold: (partition, run, changes) => passing(point, 'writeFold', () => store.writeFold(partition, run, changes)),
  };
}
