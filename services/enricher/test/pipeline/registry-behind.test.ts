import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import { DependencyError } from '@weir/domain/errors';
import { TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { Site } from '@weir/domain/registry/site';
import type { EventLog, LogTable } from '@weir/ports/event-log';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { startEnricher } from '../../src/enricher.ts';
import { openGeo } from '../../src/geo/open-geo.ts';
import { createEnrichment } from '../../src/pipeline/pipeline.ts';
import { pageview, parseLine, rawBytes } from './enrich-harness.ts';

// The gateway accepts a hit only for a site that it knows. The enricher of another process can know the site later.

const RECEIVED = Date.UTC(2026, 5, 15, 12);
/** By how much the clock of the enricher is ahead of the times of receipt. No outcome may depend on it. */
const CLOCK_AHEAD_MS = 3_600_000;

const siteOf = (siteId: string): Site => {
  return { siteId, name: '', domain: 'example.com', timezone: 'UTC', limits: {}, createdAt: RECEIVED };
};

/** A log whose tables show later changes only after `catchUp`, as if the consumer of their topics had stalled. */
function stalledTables(eventLog: EventLog, refusal: () => string | undefined): Pick<EventLog, 'openTable'> {
  return {
    async openTable(name) {
      const table = await eventLog.openTable(name);
      const entries = new Map(table.entries());
      const listeners: Parameters<LogTable['onChange']>[0][] = [];
      const late: (readonly [string, string | undefined])[] = [];
      table.onChange((key, value) => late.push([key, value]));
      const catchUp = async (): Promise<void> => {
        const reason = refusal();
        if (reason !== undefined) throw new DependencyError('event_log_unavailable', reason);
        for (const [key, value] of late.splice(0)) for (const listener of listeners) listener(key, value);
      };
      return {
        ...table,
        entries: () => entries,
        onChange: (listener) => void listeners.push(listener),
        catchUp,
        async put(key, value) {
          await table.put(key, value);
          await catchUp();
        },
      };
    },
  };
}

async function openStalled() {
  const folder = mkdtempSync(join(tmpdir(), 'weir-behind-'));
  const clock = () => RECEIVED + CLOCK_AHEAD_MS;
  let refusal: string | undefined;
  const log = { folder: join(folder, 'log'), partitions: 1, clock, retentionMs: () => 1e12 };
  const eventLog = await openLmdbEventLog(log);
  const stateStore = await openLmdbStateStore({ folder: join(folder, 'state'), clock });
  const randomSalt = () => '0'.repeat(64);
  const gateway = await openLogRegistry({ eventLog, clock, randomSalt });
  await gateway.putSite(siteOf('old'));
  const registry = await openLogRegistry({ eventLog: stalledTables(eventLog, () => refusal), clock, randomSalt });
  const geo = await openGeo({});
  const enrichment = createEnrichment({ registry, geo, logId: eventLog.logId });
  const enricher = await startEnricher({
    ...{ eventLog, stateStore, registry, enrichment, clock },
    ...{ logger: createLogger('silent'), metrics: createMetrics() },
  });
  return {
    gateway,
    status: () => enricher.status(),
    setRefusal(reason: string | undefined) {
      refusal = reason;
    },
    async hit(siteId: string) {
      const value = rawBytes({ siteId, receivedAt: RECEIVED, body: pageview({ site_id: siteId }) });
      await eventLog.append(TOPIC_RAW, [{ partition: 0, value }]);
    },
    /** The outcomes. Each one except `row` includes its reason. */
    async outcomes(count: number) {
      await eventually(
        'all outcomes',
        async () => (await eventLog.positions(TOPIC_ENRICHED, 'test'))[0]?.end === count,
      );
      const records = await eventLog.read(TOPIC_ENRICHED, 0, 0, 1e6);
      const lines = records.map(({ value }) => parseLine(Buffer.from(value).toString()));
      return lines.map(({ outcome, reason }) => (outcome === 'row' ? 'row' : `${outcome} ${reason}`));
    },
    async close() {
      await enricher.close();
      geo.close();
      await registry.close();
      await gateway.close();
      await stateStore.close();
      await eventLog.close();
      rmSync(folder, { recursive: true });
    },
  };
}

let weir: Awaited<ReturnType<typeof openStalled>>;
beforeEach(async () => {
  weir = await openStalled();
});
afterEach(() => weir.close());

test('a hit of a new site is stored, whatever the clock of the enricher says, and the rules of the site apply', async () => {
  await weir.gateway.putSite(siteOf('new'));
  await weir.hit('new');
  expect(await weir.outcomes(1)).toEqual(['row']);
  await weir.gateway.putSite(siteOf('quiet'));
  await weir.gateway.putExclusion({ ruleId: 'r', siteId: 'quiet', type: 'path', value: '*', createdAt: RECEIVED });
  await weir.hit('quiet');
  expect(await weir.outcomes(2)).toEqual(['row', 'dropped excluded_path']);
});

test('a hit of a site that was removed is dropped, and a hit of a later site with the same ID is stored', async () => {
  await weir.hit('old');
  expect(await weir.outcomes(1)).toEqual(['row']);
  await weir.gateway.removeSite('old');
  await weir.gateway.putSite(siteOf('other'));
  // The enricher does not know this site yet, so its registry reads the newest changes, also the removal of `old`.
  await weir.hit('other');
  await weir.hit('old');
  expect(await weir.outcomes(3)).toEqual(['row', 'row', 'dropped site_removed']);
  await weir.gateway.putSite(siteOf('old'));
  await weir.hit('old');
  expect((await weir.outcomes(4)).at(-1)).toBe('row');
});

test('while the registry cannot be read, a hit of an unknown site waits', async () => {
  weir.setRefusal('the topic registry cannot be read');
  await weir.gateway.putSite(siteOf('new'));
  await weir.hit('new');
  await eventually('the error', () =>
    weir.status().some(({ lastError }) => lastError?.includes('the topic registry cannot be read') === true),
  );
  expect(await weir.outcomes(0)).toEqual([]);
  weir.setRefusal(undefined);
  expect(await weir.outcomes(1)).toEqual(['row']);
});
