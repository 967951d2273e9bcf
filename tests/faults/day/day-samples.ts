import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DayWeir } from './day-weir.ts';
import { readProcessGroup } from './process-group.ts';

/** What is measured at one time. The values are bytes, or numbers of files, rows and records. */
export type Measure =
  | 'memory'
  | 'memory-main'
  | 'memory-clickhouse'
  | 'open-files'
  | 'disk'
  | 'disk-log'
  | 'disk-state'
  | 'disk-claims'
  | 'disk-tables'
  | 'disk-replaced-parts'
  | 'disk-clickhouse-rest'
  | 'disk-rest'
  | 'table-rows'
  | 'lag';

export interface Sample extends Readonly<Record<Measure, number>> {
  /** The hours since Weir started. An hour of Weir's fast clock counts as one hour. */
  readonly hour: number;
}

const FOLDERS = ['log', 'state', 'claims', 'clickhouse'] as const;

export async function takeSample({ weir, disk, hours }: DayWeir): Promise<Sample> {
  const processes = readProcessGroup(weir.pid());
  const memory = processes.reduce((sum, one) => sum + one.memory, 0);
  const main = processes.find(({ pid }) => pid === weir.pid())?.memory ?? 0;
  const [log = 0, state = 0, claims = 0, clickhouse = 0] = FOLDERS.map((name) => bytesIn(join(disk.folder, name)));
  const all = bytesIn(disk.folder);
  const [parts] = await weir.client.sql(
    // A deletion replaces each part. A part without deleted rows has the same files as its replacement, so these files are counted only once.
    `SELECT sumIf(bytes_on_disk, active) AS bytes, sumIf(rows, active) AS rows,
      sumIf(bytes_on_disk, NOT active AND hash_of_all_files NOT IN (SELECT hash_of_all_files FROM system.parts WHERE active)) AS replaced
     FROM system.parts`,
  );
  const lags = await weir.client.lags();
  const tables = Number(parts?.bytes);
  const replaced = Number(parts?.replaced);
  return {
    hour: hours(),
    ...{ memory, 'memory-main': main, 'memory-clickhouse': memory - main },
    'open-files': processes.reduce((sum, { openFiles }) => sum + openFiles, 0),
    ...{ disk: all, 'disk-log': log, 'disk-state': state, 'disk-claims': claims, 'disk-tables': tables },
    ...{ 'disk-replaced-parts': replaced, 'disk-clickhouse-rest': clickhouse - tables - replaced },
    'disk-rest': all - log - state - claims - clickhouse,
    'table-rows': Number(parts?.rows),
    lag: lags.reduce((sum, one) => sum + one, 0),
  };
}

/** The bytes that the files of a folder use on the disk, without files that are removed while `du` runs. */
function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0;
  try {
    return Number(execFileSync('du', ['-s', '-B1', folder], { encoding: 'utf8', stdio: 'pipe' }).split('\t')[0]);
  } catch (error) {
    return Number(String((error as { stdout?: string }).stdout).split('\t')[0]);
  }
}
