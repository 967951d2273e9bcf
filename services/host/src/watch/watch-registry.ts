import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import { createRegistryMetric, type Metrics } from '@weir/runtime/prometheus-metrics';

/** Longer than Kafka needs to elect another leader of the topic, or to restart. */
const UNREAD_MAX_MS = 60_000;

export interface WatchRegistryDeps {
  readonly registry: Pick<Registry, 'unreadMs'>;
  readonly intervalMs: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface RegistryWatch {
  /** The text for /readyz. Undefined while the registry is read. */
  note(): string | undefined;
  close(): void;
}

/**
 * Reports that this process cannot read the registry: an error in the log at each interval, the metric `weir_registry_unread_seconds`, and a note.
 * The process stays ready, because it can accept and process records of the sites that it knows. Otherwise all gateways would stop if the topic
 * cannot be read.
 */
export function watchRegistry({ registry, intervalMs, logger, metrics }: WatchRegistryDeps): RegistryWatch {
  createRegistryMetric(metrics, () => registry.unreadMs() / 1000);
  const note = (): string | undefined => {
    const unreadMs = registry.unreadMs();
    if (unreadMs <= UNREAD_MAX_MS) return undefined;
    return `at least one of the topics registry and salts was not read for ${Math.floor(unreadMs / 1000)} s: changes of sites, keys and rules have no effect in this process`;
  };
  const timer = setInterval(() => {
    const unread = note();
    if (unread === undefined) return;
    logger.error(
      { code: 'event_log_unavailable' },
      `${unread}. Check that Kafka is available, that both topics have a leader, and that this process may read them`,
    );
  }, intervalMs);
  timer.unref();
  return { note, close: () => clearInterval(timer) };
}
