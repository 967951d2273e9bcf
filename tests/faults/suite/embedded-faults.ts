import { CLICKHOUSE_FAULTS } from '../kinds/clickhouse-faults.ts';
import { CLOCK_FAULTS } from '../kinds/clock-faults.ts';
import { DATA_FAULTS } from '../kinds/data-faults.ts';
import { DISK_FAULTS } from '../kinds/disk-faults.ts';
import { ERASURE_FAULTS } from '../kinds/erasure-faults.ts';
import { LOAD_FAULTS } from '../kinds/load-faults.ts';
import { NETWORK_FAULTS } from '../kinds/network-faults.ts';
import { OVERLOAD_FAULTS } from '../kinds/overload-faults.ts';
import { PART_FAULTS } from '../kinds/part-faults.ts';
import { PROCESS_FAULTS } from '../kinds/process-faults.ts';
import { STEP_FAULTS } from '../kinds/step-faults.ts';
import type { Runnable } from './runnable.ts';

/** The faults of a Weir on one machine, in the order in which they run. */
export const EMBEDDED_FAULTS: readonly Runnable[] = [
  ...PROCESS_FAULTS,
  ...PART_FAULTS,
  ...STEP_FAULTS,
  ...DISK_FAULTS,
  ...CLOCK_FAULTS,
  ...NETWORK_FAULTS,
  ...CLICKHOUSE_FAULTS,
  ...DATA_FAULTS,
  ...ERASURE_FAULTS,
  ...LOAD_FAULTS,
  ...OVERLOAD_FAULTS,
];
