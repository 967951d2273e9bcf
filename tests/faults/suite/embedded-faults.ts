import { PROCESS_FAULTS } from '../kinds/process-faults.ts';
import { STEP_FAULTS } from '../kinds/step-faults.ts';
import type { Runnable } from './runnable.ts';

/** The faults of a Weir on one machine, in the order of the table. */
export const EMBEDDED_FAULTS: readonly Runnable[] = [...PROCESS_FAULTS, ...STEP_FAULTS];
