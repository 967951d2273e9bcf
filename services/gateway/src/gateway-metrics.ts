import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { CountReply, Endpoint } from './http/gateway-reply.ts';

export interface GatewayMetrics {
  countReplies(endpoint: Endpoint): CountReply;
  appended(records: number, seconds: number): void;
  /** Counts a record that was not stored, or for which this is unknown. */
  appendFailed(status: 'refused' | 'unknown'): void;
  claimed(outcome: 'claimed' | 'pending' | 'confirmed', keys: number): void;
  stateStoreFailed(call: 'claim' | 'confirm' | 'release'): void;
  /** Counts the custom traits of an accepted identify that will not be stored. */
  traitsDropped(reason: 'over_limit' | 'invalid_key', traits: number): void;
  failed(): void;
}

/**
 * Requests are counted in plain numbers, which are read when the metrics are scraped. A labelled counter would cost 1 µs per
 * request.
 */
export function createGatewayMetrics(registry: Metrics, waiting: () => number): GatewayMetrics {
  const registers = [registry];
  const counts = new Map<Endpoint, Map<number, number>>();
  new Counter({
    name: 'weir_http_requests_total',
    help: 'Answered requests by endpoint and status.',
    labelNames: ['endpoint', 'status'],
    registers,
    collect() {
      this.reset();
      for (const [endpoint, byStatus] of counts) {
        for (const [status, count] of byStatus) this.inc({ endpoint, status }, count);
      }
    },
  });
  new Gauge({
    name: 'weir_gateway_waiting_requests',
    help: 'Records that wait until the event log has stored them.',
    registers,
    collect() {
      this.set(waiting());
    },
  });
  const batchRecords = new Histogram({
    name: 'weir_gateway_append_batch_records',
    help: 'Records per append.',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  });
  const appendSeconds = new Histogram({
    name: 'weir_gateway_append_seconds',
    help: 'Duration of an append in seconds.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  });
  const appendFailures = new Counter({
    name: 'weir_gateway_append_failures_total',
    help: 'Records that the event log refused, or whose append has an unknown result.',
    labelNames: ['status'],
    registers,
  });
  // If a counter first appeared with its first failure, Prometheus would see no increase. So it begins with 0.
  for (const status of ['refused', 'unknown']) appendFailures.inc({ status }, 0);
  const claims = new Counter({
    name: 'weir_gateway_claims_total',
    help: 'Claims of idempotency keys by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const stateStoreFailures = new Counter({
    name: 'weir_gateway_state_store_failures_total',
    help: 'Failed calls of the state store. The requests continued without it.',
    labelNames: ['call'],
    registers,
  });
  const droppedTraits = new Counter({
    name: 'weir_gateway_dropped_traits_total',
    help: 'Custom traits of accepted identifies that are not stored.',
    labelNames: ['reason'],
    registers,
  });
  const failures = new Counter({
    name: 'weir_gateway_failures_total',
    help: 'Requests that failed because of a bug (status 500).',
    registers,
  });

  return {
    countReplies(endpoint) {
      const byStatus = new Map<number, number>();
      counts.set(endpoint, byStatus);
      return (status) => {
        byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      };
    },
    appended(records, seconds) {
      batchRecords.observe(records);
      appendSeconds.observe(seconds);
    },
    appendFailed: (status) => appendFailures.inc({ status }),
    claimed: (outcome, keys) => claims.inc({ outcome }, keys),
    stateStoreFailed: (call) => stateStoreFailures.inc({ call }),
    traitsDropped(reason, traits) {
      if (traits > 0) droppedTraits.inc({ reason }, traits);
    },
    failed: () => failures.inc(),
  };
}
