import type { Metrics } from '@weir/runtime/metrics';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { CountReply, Endpoint } from './reply.ts';

export interface GatewayMetrics {
  countReplies(endpoint: Endpoint): CountReply;
  /** A batch that was appended: how many records, and how long the log took. */
  appended(records: number, seconds: number): void;
  appendFailed(status: 'refused' | 'unknown', records: number): void;
  claimed(outcome: 'claimed' | 'pending' | 'confirmed', keys: number): void;
  stateStoreFailed(call: 'claim' | 'confirm' | 'release'): void;
  failed(): void;
}

/** Requests are counted in plain numbers and read off when asked: a labelled counter costs a microsecond a request. */
export function createGatewayMetrics(registry: Metrics, waiting: () => number): GatewayMetrics {
  const registers = [registry];
  const counts = new Map<Endpoint, Map<number, number>>();
  new Counter({
    name: 'weir_http_requests_total',
    help: 'Answers by endpoint and status.',
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
    help: 'Requests that wait for the event log.',
    registers,
    collect() {
      this.set(waiting());
    },
  });
  const batchRecords = new Histogram({
    name: 'weir_gateway_append_batch_records',
    help: 'Records of an append.',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  });
  const appendSeconds = new Histogram({
    name: 'weir_gateway_append_seconds',
    help: 'Time until the event log had a batch.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  });
  const appendFailures = new Counter({
    name: 'weir_gateway_append_failures_total',
    help: 'Records that the event log refused, or whose outcome is unknown.',
    labelNames: ['status'],
    registers,
  });
  const claims = new Counter({
    name: 'weir_gateway_claims_total',
    help: 'Idempotency keys by what the state store said.',
    labelNames: ['outcome'],
    registers,
  });
  const stateStoreFailures = new Counter({
    name: 'weir_gateway_state_store_failures_total',
    help: 'Calls that the state store could not answer. Requests went on without it.',
    labelNames: ['call'],
    registers,
  });
  const failures = new Counter({ name: 'weir_gateway_failures_total', help: 'Bugs answered with 500.', registers });

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
    appendFailed: (status, records) => appendFailures.inc({ status }, records),
    claimed: (outcome, keys) => claims.inc({ outcome }, keys),
    stateStoreFailed: (call) => stateStoreFailures.inc({ call }),
    failed: () => failures.inc(),
  };
}
