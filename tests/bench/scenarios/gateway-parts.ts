import type { Programs } from '../build-programs.ts';
import type { Part, PartsTask } from '../programs/measure-gateway-parts.ts';
import { showSpread, spreadOf } from '../report/spread.ts';
import type { Table } from './scenario.ts';

/** Measures the parts of the gateway's work for a request separately, including those that the bare server does too. */
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
      `Each part is measured alone, in one process, in a loop over the same functions, with batches of ${task.batchRecords} records, the average size of an append in the rounds above. The remaining difference between the servers is the work of Express, of the batcher and its promises, of reading the headers of the request, of the headers of the answer, and of garbage collection.`,
    ],
  };
}
