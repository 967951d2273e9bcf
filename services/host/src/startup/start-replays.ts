import { startReplayer } from '@weir/control/replay/replayer';
import { createEnrichment } from '@weir/enricher/pipeline/pipeline';
import { startReplayEnricher } from '@weir/enricher/replay/start-replay-enricher';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { ObjectStore } from '@weir/ports/object-store';
import { awaitedLater } from '@weir/runtime/abortable';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { holdsPause, nextSwap, pauseWriters, resumeWriters } from '@weir/writer/pause/pause-writers';
import { startWriter } from '@weir/writer/writer';
import type { OpenAnalytics } from '../ports/open-analytics.ts';
import type { Ports } from '../ports/open-ports.ts';
import { replayStateStores } from '../ports/open-replay-state.ts';
import type { SharedGeo } from '../ports/shared-geo.ts';
import { createStack } from '../stack.ts';
import { writerLimits } from './start-pipeline.ts';

export interface ReplaysDeps {
  readonly config: Config;
  readonly ports: Pick<Ports, 'eventLog' | 'registry'>;
  readonly store: Pick<OpenAnalytics, 'analytics' | 'shadow' | 'ready'>;
  readonly disk: DiskSpace | undefined;
  /** Undefined if Weir does not archive. */
  readonly archive: ObjectStore | undefined;
  readonly logger: Logger;
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly geo: SharedGeo;
}

export interface Replays {
  /** Resolves when replays can run. Rejects if the tables cannot be used. */
  readonly started: Promise<void>;
  /** Why the replay does not continue. Undefined if it continues, or if another process leads it. */
  readonly problem: () => string | undefined;
  close(): Promise<void>;
}

/** Starts the replayer as soon as ClickHouse is available. */
export function startReplays(deps: ReplaysDeps): Replays {
  const { config, ports, store, disk, archive, logger, clock, metrics } = deps;
  const { eventLog, registry } = ports;
  const { analytics, shadow } = store;
  const stack = createStack();
  let problem = (): string | undefined => undefined;

  async function start(): Promise<void> {
    await store.ready;
    const pausing = { eventLog, registry, clock, owner: 'swap' } as const;
    const limits = writerLimits(config);
    const states = replayStateStores({ config, logger, clock, disk, stack });
    const replayer = stack.add(
      startReplayer({
        ...{ eventLog, registry, analytics, shadow, clock, logger, disk, archive },
        retentionMs: config.enrichedRetentionMs,
        liveWriters: {
          nextSwap: () => nextSwap(pausing),
          pause: (swap, signal) => pauseWriters(pausing, swap, { signal }),
          holds: (swap) => holdsPause(pausing, swap),
          resume: (swap) => resumeWriters(pausing, swap),
        },
        startReplayWriter: ({ eventLog: log, analytics: tables, ...replay }) =>
          startWriter({
            eventLog: log,
            analytics: tables,
            clock,
            logger,
            metrics,
            disk,
            replay,
            limits,
            pauses: undefined,
          }),
        raw: {
          retentionMs: config.rawRetentionMs,
          removeState: states.remove,
          startEnricher: async ({ eventLog: log, firstRawOffset }) => {
            const geo = await deps.geo();
            const stateStore = await states.open();
            const enricher = await startReplayEnricher({
              eventLog: log,
              answeredIn: eventLog,
              enrichment: createEnrichment({ registry, geo, logId: log.logId }),
              ...{ stateStore, registry, analytics, firstRawOffset, clock, logger, metrics, disk },
            }).catch(async (error: unknown) => {
              await stateStore.close();
              throw error;
            });
            return {
              ...enricher,
              async close() {
                await enricher.close();
                await stateStore.close();
              },
            };
          },
        },
      }),
    );
    problem = replayer.problem;
  }

  const started = awaitedLater(start());
  return {
    started,
    problem: () => problem(),
    async close() {
      await Promise.allSettled([started]);
      await stack.close();
    },
  };
}
