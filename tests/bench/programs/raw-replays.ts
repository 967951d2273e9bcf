import { rm } from 'node:fs/promises';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import type { RawReplays } from '@weir/control/replay/replay-filler';
import type { Geo } from '@weir/enricher/geo/open-geo';
import { createEnrichment } from '@weir/enricher/pipeline/pipeline';
import { startReplayEnricher } from '@weir/enricher/replay/start-replay-enricher';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';

const RETENTION_MS = 72 * 3_600_000;

export interface RawReplayEngines {
  /** The folder for the state store that the replay's enricher uses. */
  readonly folder: string;
  readonly eventLog: EventLog;
  readonly registry: Registry;
  readonly analytics: Analytics;
  readonly geo: Geo;
}

/** Returns functions that start the enricher of a replay from `events.raw`, as services/host/src/startup/start-replays.ts does. */
export function rawReplays({ folder, eventLog, registry, analytics, geo }: RawReplayEngines): RawReplays {
  const clock = Date.now;
  return {
    retentionMs: RETENTION_MS,
    removeState: () => rm(folder, { recursive: true, force: true }),
    async startEnricher({ eventLog: log, firstRawOffset }) {
      const stateStore = await openLmdbStateStore({ folder, clock });
      const enricher = await startReplayEnricher({
        ...{ eventLog: log, answeredIn: eventLog, stateStore, registry, analytics, firstRawOffset, clock },
        enrichment: createEnrichment({ registry, geo, logId: log.logId }),
        logger: createLogger('error'),
        metrics: createMetrics(),
      });
      return {
        ...enricher,
        async close() {
          await enricher.close();
          await stateStore.close();
        },
      };
    },
  };
}
