import type { Step } from '../pipeline/step.ts';

/** Empties the client IP: no later step and no row can contain it (docs/api.md: it never reaches ClickHouse). */
export const forgetAddress: Step = {
  name: 'forget-address',
  apply(event) {
    event.ip = '';
    return undefined;
  },
};
