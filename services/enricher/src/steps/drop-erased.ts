import type { IsErased } from '../identity/is-erased.ts';
import type { Step } from '../pipeline/step.ts';

/**
 * Gives records of erased persons and sites the outcome `erased`, if they were received before the erasure was requested. `prepare` decides this,
 * because idempotency keys are claimed after it, and an erased record must not claim its key. The exception is a record that gets the visitor of a
 * link (`link-visitor`): its key is claimed before its visitor is known.
 */
export function createDropErased(isErased: IsErased): Step {
  return {
    name: 'drop-erased',
    prepare(event) {
      event.erased = isErased(event);
      return undefined;
    },
    apply(event) {
      // The step `put-visitor` can have replaced the visitor ID by that of the day before, so the record is checked again with this ID.
      const changed = event.previousVisitorId !== '' && event.visitorId === event.previousVisitorId;
      if (!event.erased && !(changed && isErased(event))) return undefined;
      // If a person was erased after the import of a dump, the row in the tables has the original time of receipt. A replay
      // must store the same time.
      if (event.dumped !== undefined) event.receivedAt = event.dumped.receivedAt;
      return { outcome: 'erased' };
    },
  };
}
