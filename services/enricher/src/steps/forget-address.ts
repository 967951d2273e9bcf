import type { Step } from '../pipeline/step.ts';

/**
 * Removes the client IP from the event, so that no later step and no row can contain it (docs/api.md: the address never reaches
 * ClickHouse).
 */
export const forgetAddress: Step = {
  name: 'forget-address',
  apply(event) {
    event.ip = '';
    return undefined;
  },
};
