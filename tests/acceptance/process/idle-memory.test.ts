import { readFileSync } from 'node:fs';
import { eventually } from '@weir/testkit/eventually';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';

/** Whether the process has loaded the library that calls `malloc_trim`. A process loads it before the first call. */
const hasTrimmed = (pid: number): boolean => readFileSync(`/proc/${pid}/maps`, 'utf8').includes('/koffi');

/** A trim follows about 30 s in which the process was idle without interruption. On a busy machine, that can take minutes. */
const TRIM_WITHIN_MS = 450_000;

const onLinux = process.platform === 'linux' || process.env.CI === 'true' ? test : test.skip;

let weir: WeirProcess | undefined;
afterEach(() => weir?.stop());

onLinux(
  'the processes of an idle Weir return the memory that they have freed',
  async () => {
    const running = await startWeir();
    weir = running;
    await eventually('a trim of the main process', () => hasTrimmed(running.pid()), TRIM_WITHIN_MS);
    await eventually('a trim of ClickHouse', () => hasTrimmed(running.clickhousePid()), TRIM_WITHIN_MS);
  },
  1_200_000,
);
