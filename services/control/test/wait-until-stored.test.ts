import type { EventLog, PartitionPosition } from '@weir/ports/event-log';
import { waitUntilStored } from '../src/imports/wait-until-stored.ts';
import type { SteadyTables } from '../src/steady-tables.ts';

test('waits for records that consumers cannot read yet: otherwise an import would append them again', async () => {
  const position: PartitionPosition = { partition: 0, first: 0, end: 5, written: 7, committed: 5, metadata: '' };
  const eventLog = { logId: 'log', positions: async () => [position] } as unknown as EventLog;
  let highest = 4;
  const tables = {
    read: (work) => work({ highestRawOffset: async () => highest } as never),
  } as Pick<SteadyTables, 'read'>;
  const deps = { eventLog, tables };
  expect(await waitUntilStored(deps, 0)).toBe(false);
  highest = 6;
  expect(await waitUntilStored(deps, 0)).toBe(true);
});
