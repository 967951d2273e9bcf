import { buildSlots, fillTraffic, type TrafficTask, untilMerged } from '../reports/fill-traffic.ts';
import { openTables, type TablesTask } from '../reports/open-tables.ts';

/** `folder`: the data folder of a Weir that has never run. */
export interface FillTask extends TrafficTask, TablesTask {}

const note = (text: string): void => console.error(`bench: dashboard: ${text}`);

/** Fills the tables in a data folder with generated traffic, before Weir uses the folder. Returns the number of rows. */
async function main(task: FillTask): Promise<number> {
  const { analytics, close } = await openTables(task);
  const rows = await fillTraffic(analytics, task, note);
  await untilMerged(analytics);
  note(`built ${await buildSlots(analytics, task.endMs)} slots`);
  await untilMerged(analytics);
  await close();
  return rows;
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as FillTask)));
