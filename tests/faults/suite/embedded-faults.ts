import { CLOCK_FAULTS } from '../kinds/clock-faults.ts';
import { DATA_FAULTS } from '../kinds/data-faults.ts';
import { DISK_FAULTS } from '../kinds/disk-faults.ts';
import { LOAD_FAULTS } from '../kinds/load-faults.ts';
import { NETWORK_FAULTS } from '../kinds/network-faults.ts';
import { PROCESS_FAULTS } from '../kinds/process-faults.ts';
import { STEP_FAULTS } from '../kinds/step-faults.ts';
import type { Runnable } from './runnable.ts';

/** The faults of a Weir on one machine, in the order of the table. */
export const EMBEDDED_FAULTS: readonly Runnable[] = [
  ...PROCESS_FAULTS,
  ...STEP_FAULTS,
  ...DISK_FAULTS,
  ...CLOCK_FAULTS,
  ...NETWORK_FAULTS,
  ...DATA_FAULTS,
  ...LOAD_FAULTS,
];
