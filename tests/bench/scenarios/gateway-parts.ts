import type { Programs } from '../build-programs.ts';
import type { Part, PartsTask } from '../programs/measure-gateway-parts.ts';
import { showSpread, spreadOf } from '../report/spread.ts';
import type { Table } from './scenario.ts';

/** What the gateway does beyond reading and validating, each piece alone. */
export async function gatewayParts(
  programs: Programs,
  batchRecords: number,
): Promise<{ readonly table: Table; readonly notes: readonly string[] }> {
  const task: PartsTask = { folder: programs.newFolder(), batchRecords: Math.max(1, Math.round(batchRecords)) };
  const parts = await programs.measure<readonly Part[]>('measure-gateway-parts', task);
  return {
    table: {
      head: ['part of a request', 'CPU µs'],
      rows: parts.map(({ name, micros }) => [name, showSpread(spreadOf(micros), 2)]),
    },
    notes: [
      `The parts are measured alone, in one process, in loops over the same functions, in batches of ${task.batchRecords} records: the gateway's mean append in the rounds above. What is left of the difference between the servers is Express, the batcher's promises and the answer's headers.`,
    ],
  };
}
