import { Counter, Gauge } from 'prom-client';
import { addMetrics, growingMetrics, type Metrics, type ThreadMetrics } from '../prometheus-metrics.ts';

/** The metrics of all gateway processes. */
export interface GatewayTotals {
  /** Adds the metrics of a process. `read` resolves with undefined if the process does not answer in time. */
  add(read: () => Promise<ThreadMetrics | undefined>): { end(): void };
  /**
   * The sums of all processes. Counters and histograms include the last values that were read from processes that have ended or do not answer.
   * Without these values, the sums would decrease. Prometheus would interpret the decrease as a restart, and count all other processes twice.
   */
  read(): Promise<ThreadMetrics>;
  /** Counts a process that was started again. */
  restarted(): void;
}

interface Source {
  readonly read: () => Promise<ThreadMetrics | undefined>;
  last: ThreadMetrics;
}

export function createGatewayTotals(metrics: Metrics, accepting: () => number): GatewayTotals {
  const registers = [metrics];
  const sources = new Set<Source>();
  /** The sums of the last counters and histograms of all processes that have ended. */
  let ended: ThreadMetrics = [];
  new Gauge({
    name: 'weir_gateway_processes',
    help: 'Gateway processes that accept requests.',
    registers,
    collect() {
      this.set(accepting());
    },
  });
  const restarts = new Counter({
    name: 'weir_gateway_process_restarts_total',
    help: 'Gateway processes that ended unexpectedly and were started again.',
    registers,
  });

  /** Reads the metrics of a process now. If it does not answer, returns its last counters and histograms. */
  async function readSource(source: Source): Promise<ThreadMetrics> {
    const found = await source.read();
    if (found === undefined) return source.last;
    source.last = growingMetrics(found);
    return found;
  }

  return {
    add(read) {
      const source: Source = { read, last: [] };
      sources.add(source);
      return {
        end() {
          sources.delete(source);
          ended = addMetrics([ended, source.last]);
        },
      };
    },
    async read() {
      const asked = [...sources];
      const found = await Promise.all(asked.map(readSource));
      // The values of a process that has ended meanwhile are in `ended`.
      const live = found.filter((_, nth) => sources.has(asked[nth] as Source));
      return addMetrics([ended, ...live]);
    },
    restarted: () => restarts.inc(),
  };
}
