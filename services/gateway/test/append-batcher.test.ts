import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { createKeyClaims } from '../src/admission/key-claims.ts';
import { createAppendBatcher } from '../src/append/append-batcher.ts';
import { createGatewayMetrics } from '../src/gateway-metrics.ts';

const MIB = 1024 * 1024;

it('many large concurrent bodies are appended in batches that the log accepts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-batcher-'));
  const clock = Date.now;
  const log = await openLmdbEventLog({
    folder: join(folder, 'log'),
    partitions: 2,
    clock,
    retentionMs: () => 86_400_000,
  });
  const stateStore = await openLmdbStateStore({ folder: join(folder, 'state'), clock });
  const metrics = createGatewayMetrics(createMetrics(), () => 0);
  const batches: number[] = [];
  const batcher = createAppendBatcher({
    eventLog: {
      append(topic, records) {
        batches.push(records.reduce((sum, { value }) => sum + value.length, 0));
        return log.append(topic, records);
      },
    },
    keyClaims: createKeyClaims(stateStore, metrics),
    lingerMs: 1000,
    clock,
    metrics,
  });
  const results = Array.from({ length: 400 }, () =>
    batcher.append({ partition: 0, value: Buffer.alloc(64 * 1024, 'x') }, undefined),
  );
  await batcher.drain();
  expect(new Set(await Promise.all(results))).toEqual(new Set(['stored']));
  expect(batches.map((bytes) => bytes / MIB)).toEqual([8, 8, 8, 1]);
  await Promise.all([log.close(), stateStore.close()]);
  rmSync(folder, { recursive: true });
});
