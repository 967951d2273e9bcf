import { TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { putExpiredStart } from '@weir/runtime/archive/expired-start';
import { eventually } from '@weir/testkit/eventually';
import type { Archiver } from '../src/archiver.ts';

import { plain, useArchiver } from './archiver-harness.ts';

const harness = useArchiver();
const { makeFolder, start, stop, append, archived, inLog, caughtUp, restoreLog } = harness;

async function namesInStore(): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of harness.store.list('')) names.push(name);
  return names;
}

const alarmsOf = (archiver: Archiver): readonly string[] =>
  archiver.consumers.flatMap(({ running }) => running.status().flatMap(({ alarm }) => alarm ?? []));

test('after a restore of the log, segments of the lost history stop the archiver until they are moved away', async () => {
  await append(300);
  const first = await start();
  await caughtUp();
  await stop(first);
  const known = await namesInStore();
  const backup = makeFolder();
  await harness.eventLog.copyTo(backup);
  await append(200);
  const second = await start();
  await caughtUp();
  await stop(second);
  const lost = (await namesInStore()).filter((name) => !known.includes(name));
  const before = [...(await archived(TOPIC_RAW)), ...(await archived(TOPIC_ENRICHED))];

  await restoreLog(backup);
  // The log grows past the offsets of the lost records.
  await append(700);
  const third = await start();
  await eventually('each partition has an alarm', () => alarmsOf(third).length === 4);
  for (const alarm of alarmsOf(third)) {
    expect(alarm).toContain('is archived before offset 150, but the archive has');
    expect(lost.some((name) => alarm.includes(`from ${name} to `))).toBe(true);
  }
  expect([...(await archived(TOPIC_RAW)), ...(await archived(TOPIC_ENRICHED))]).toEqual(before);

  for (const name of lost) await harness.store.delete(name);
  await caughtUp();
  expect(alarmsOf(third)).toEqual([]);
  expect(plain(await archived(TOPIC_ENRICHED))).toEqual(plain(await inLog(TOPIC_ENRICHED)));
  expect(await archived(TOPIC_RAW)).toHaveLength(1_000);
});

test('after a restore of the log, a partition that has expired beyond its commit is not archived', async () => {
  await append(20);
  const first = await start();
  await caughtUp();
  await stop(first);
  const start0 = { topic: TOPIC_RAW, logId: harness.eventLog.logId, partition: 0, next: 11, rawNext: 11, storedAt: 1 };
  await putExpiredStart(harness.store, start0);
  const second = await start();
  await eventually('the partition has an alarm', () => alarmsOf(second).length === 1);
  expect(alarmsOf(second)[0]).toContain(`expired/${TOPIC_RAW}/${harness.eventLog.logId}/0000/0000000000000011.json`);
});
