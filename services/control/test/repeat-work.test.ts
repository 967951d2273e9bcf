import { eventually } from '@weir/testkit/eventually';
import { repeatWork } from '../src/background/repeat-work.ts';

const EVERY_MS = 5;

test('reports an error of the work and does the work again', async () => {
  const failed: unknown[] = [];
  let times = 0;
  const work = async (): Promise<void> => {
    times++;
    if (times === 1) throw new Error('refused');
  };
  const repeated = repeatWork(EVERY_MS, new AbortController(), work, (error) => void failed.push(error));
  await eventually('more work', () => times > 2);
  await repeated.close();
  expect(failed).toEqual([new Error('refused')]);
});

test('does not report the errors that the end of the process causes', async () => {
  const failed: unknown[] = [];
  const stop = new AbortController();
  let times = 0;
  const work = async (): Promise<void> => {
    times++;
    if (times < 3) AbortSignal.abort().throwIfAborted();
    await new Promise((_, reject) => stop.signal.addEventListener('abort', () => reject(new Error('cut'))));
  };
  const repeated = repeatWork(EVERY_MS, stop, work, (error) => void failed.push(error));
  await eventually('work that waits', () => times === 3);
  await repeated.close();
  expect(failed).toEqual([]);
});
